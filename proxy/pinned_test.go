package proxy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// listed gives the names that a client finds in a list of the tools, without workbench's own.
func (l *line) listed(id string, meta string) (names []string) {
	l.t.Helper()
	l.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/list","params":{` + meta + `}}`)
	var list struct{ Tools []struct{ Name string } }
	l.result(id, &list)
	for _, tool := range list.Tools[4:] {
		names = append(names, tool.Name)
	}
	return names
}

// A pinned tool is listed always. Its server is started for that if nothing is known of it, else when the tool is
// called, and then told of the log level that was set meanwhile.
func TestPinned(t *testing.T) {
	t.Parallel()
	want := []string{"dev__a__x"}
	for _, modern := range []bool{false, true} {
		t.Run(fmt.Sprintf("modern %v", modern), func(t *testing.T) {
			meta := ""
			if modern {
				meta = modernMembers
			}
			p := newPast(t, "tools=x,heard")
			p.pin = `"dev/a/x"`
			l := p.run(modern)
			if got := l.listed("1", meta); !slices.Equal(got, want) {
				t.Errorf("of a server that was never seen: got %q, want %q", got, want)
			}
			l.close()

			p.closeGate()
			l = p.run(modern)
			if got := l.listed("1", meta); !slices.Equal(got, want) {
				t.Errorf("of a server that does not start: got %q, want %q", got, want)
			}
			l.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"workbench_status","arguments":{}` + after(meta) + `}}`)
			var status struct {
				StructuredContent struct{ Toolboxes []struct{ Open bool } }
			}
			l.result("2", &status)
			if got := status.StructuredContent.Toolboxes; len(got) > 0 && got[0].Open {
				t.Errorf("got the toolboxes %+v, want none that is open: its tool was not called", got)
			}
			if !modern {
				l.send(`{"jsonrpc":"2.0","id":5,"method":"logging/setLevel","params":{"level":"debug"}}`)
				l.reply("5")
			}
			l.send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"dev__a__x","arguments":{"n":1}` + after(meta) + `}}`)
			p.openGate()
			var result struct{ Content []struct{ Text string } }
			l.result("3", &result)
			if len(result.Content) != 1 || result.Content[0].Text != `x was called with {"n":1}` {
				t.Errorf("got %+v, want the result of the call", result)
			}
			if got := l.listed("4", meta); !slices.Equal(got, want) {
				t.Errorf("after a call: got %q, want %q", got, want)
			}
			if !modern {
				if got := l.ask(6, "dev__a__heard", "{}"); !strings.Contains(got, "logging/setLevel") {
					t.Errorf("the server heard %s, want the level", got)
				}
			}
			l.close()
		})
	}
}

func after(member string) string {
	if member == "" {
		return ""
	}
	return "," + member
}
