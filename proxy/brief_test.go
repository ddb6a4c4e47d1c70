package proxy_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	told "github.com/mcp-workbench/workbench/proxy/meta"
)

// toldAtOnce gives what a client is told before its first call: the instructions and the definitions of the tools.
func toldAtOnce(t *testing.T, config string) (instructions, tools string) {
	t.Helper()
	l := connect(t, newFront(t, readConfig(t, config), ""))
	var hello struct {
		Result struct{ Instructions string }
	}
	l.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	if err := json.Unmarshal([]byte(l.reply("0")), &hello); err != nil {
		t.Fatal(err)
	}
	l.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	l.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	var reply struct {
		Result struct{ Tools json.RawMessage }
	}
	if err := json.Unmarshal([]byte(l.reply("1")), &reply); err != nil {
		t.Fatal(err)
	}
	l.close()
	return hello.Result.Instructions, string(reply.Result.Tools)
}

// In toolMode search the fixed tokens stay within 900 of four bytes, however many toolboxes there are, and the text of
// the contract comes first.
func TestFixedTokensOfSearch(t *testing.T) {
	const most = 900 * 4
	for _, c := range []struct {
		boxes, words int
		all          bool // are named
	}{{1, 10, true}, {3, 15, true}, {50, 12, true}, {50, 300, true}, {2000, 12, false}} {
		t.Run(fmt.Sprint(c.boxes, "x", c.words), func(t *testing.T) {
			var boxes []string
			for i := range c.boxes {
				boxes = append(boxes, fmt.Sprintf(`"box-%04d": {"description": %q, "mcpServers": {"s": {"command": "inside", "args": ["tools=x"]}}}`,
					i, strings.Repeat("words ", c.words)))
			}
			config := `{"toolMode": "search", "toolboxes": {` + strings.Join(boxes, ",") + `}}`
			instructions, tools := toldAtOnce(t, config)
			if got, want := told.AtOnce(readConfig(t, config)), len(instructions)+len(tools); got != want {
				t.Errorf("got %d bytes told at once, want the %d that a client got", got, want)
			}
			t.Logf("%d toolboxes: instructions of %d tokens, tools of %d", c.boxes, len(instructions)/4, len(tools)/4)
			if got := len(instructions) + len(tools); got > most {
				t.Errorf("got %d bytes, want at most %d\n%s\n%s", got, most, instructions, tools)
			}
			for i := range c.boxes {
				if name := fmt.Sprintf("box-%04d", i); c.all && !strings.Contains(instructions, name) {
					t.Errorf("the toolbox %s is not named in\n%s", name, instructions)
				}
			}
			if want := "Available Toolboxes:\n\n"; !strings.HasPrefix(instructions, want) || !strings.Contains(instructions, "workbench_find_tools") {
				t.Errorf("got %q, want it to begin with %q and to name workbench_find_tools", instructions, want)
			}
			if !c.all && !strings.Contains(instructions, "… and ") {
				t.Errorf("got %q, want it to say how many toolboxes are not named", instructions)
			}
		})
	}
}
