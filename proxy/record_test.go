package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/calls"
	"github.com/mcp-workbench/workbench/internal/mask"
	"github.com/mcp-workbench/workbench/proxy"
	"github.com/mcp-workbench/workbench/proxy/localfront"
	"github.com/mcp-workbench/workbench/toolbox"
)

// recorded is a client of a front that records, with the toolbox dev open.
func recorded(t *testing.T, mode calls.Mode) (*line, *calls.Log) {
	t.Helper()
	log := calls.New(mode)
	front := newFrontWith(t, readConfig(t, `{"toolboxes": {"dev": {"mcpServers": {
		"a": {"command": "child", "args": ["tools=echo,fail,iserror,hang,exit,params", "prompts=greet"], "env": {"TEST_TOKEN": "canary-of-a-variable", "TEST_DB": "${secret:db}"}}}}}}`),
		proxy.Options{Calls: log, Toolbox: toolbox.Options{
			Masks:  new(mask.Set),
			Secret: func(context.Context, config.Secret) (string, error) { return "canary-of-a-secret", nil },
		}})
	l := connect(t, front)
	l.initialize("2025-11-25", "{}")
	l.direct("open", "dev")
	return l, log
}

// last waits for the call that ended last, and takes what differs from run to run out of it.
func last(t *testing.T, log *calls.Log) calls.Call {
	t.Helper()
	all := log.Calls(calls.Filter{})
	if len(all) == 0 {
		t.Fatal("no call is recorded")
	}
	c := all[len(all)-1]
	if c.Time.IsZero() || c.Duration <= 0 || c.ID == "" || c.Session != "1" || c.User != "default_user" || c.Client == "" || c.In == 0 {
		t.Errorf("got %+v, want a time, a duration, an id, and who it was", c)
	}
	return c
}

// Each request that goes to a server, or should have, is in the record, with what became of it.
func TestCallsAreRecorded(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		request string
		want    calls.Call
	}{
		"answered": {`"tools/call","params":{"name":"dev__a__echo","arguments":{"x":1}}`, calls.Call{Toolbox: "dev", Server: "a", Tool: "echo", Outcome: calls.OK}},
		"by the meta tool": {`"tools/call","params":{"name":"workbench_use_tool","arguments":{"toolbox_name":"dev","tool_name":"echo","arguments":{"x":1}}}`,
			calls.Call{Toolbox: "dev", Server: "a", Tool: "echo", Outcome: calls.OK}},
		"workbench's own": {`"tools/call","params":{"name":"workbench_status","arguments":{}}`, calls.Call{Tool: "workbench_status", Outcome: calls.OK}},
		"the tool failed": {`"tools/call","params":{"name":"dev__a__iserror"}`, calls.Call{Toolbox: "dev", Server: "a", Tool: "iserror", Outcome: calls.ToolError, Error: "no such file"}},
		"an error":        {`"tools/call","params":{"name":"dev__a__fail"}`, calls.Call{Toolbox: "dev", Server: "a", Tool: "fail", Outcome: calls.Error, Error: "it failed (code -32001)"}},
		"unknown":         {`"tools/call","params":{"name":"dev__a__ecko"}`, calls.Call{Tool: "dev__a__ecko", Outcome: calls.Refused, Error: "*"}},
		"unknown inside":  {`"tools/call","params":{"name":"workbench_use_tool","arguments":{"toolbox_name":"dep","tool_name":"x"}}`, calls.Call{Tool: "x", Outcome: calls.Refused, Error: "*"}},
		"a prompt":        {`"prompts/get","params":{"name":"dev__a__greet"}`, calls.Call{Toolbox: "dev", Server: "a", Tool: "greet", Outcome: calls.OK}},
		"a resource":      {`"resources/read","params":{"uri":"no:where"}`, calls.Call{Tool: "no:where", Outcome: calls.Refused, Error: "*"}},
		"an open":         {`"tools/call","params":{"name":"workbench_open_toolbox","arguments":{"toolbox_name":"dev"}}`, calls.Call{Tool: "workbench_open_toolbox", Outcome: calls.OK}},
		"with a trace": {`"tools/call","params":{"name":"dev__a__echo","_meta":{"progressToken":"p","traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}`,
			calls.Call{Toolbox: "dev", Server: "a", Tool: "echo", Outcome: calls.OK, Progress: `"p"`, Trace: calls.Trace{0x0a, 0xf7, 0x65, 0x19, 0x16, 0xcd, 0x43, 0xdd, 0x84, 0x48, 0xeb, 0x21, 0x1c, 0x80, 0x31, 0x9c}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, log := recorded(t, calls.Meta)
			l.send(`{"jsonrpc":"2.0","id":"one","method":` + test.request + `}`)
			reply := l.reply(`"one"`)
			got := last(t, log)
			method, _, _ := strings.Cut(test.request, ",")
			if got.Method != strings.Trim(method, `"`) || got.Request != `"one"` || got.Out != len(reply) || got.Tokens != len(reply)/4 {
				t.Errorf("got %+v for %s", got, reply)
			}
			if test.want.Error == "*" && got.Error != "" {
				got.Error = "*"
			}
			if got.Arguments != nil || got.Result != nil {
				t.Errorf("got %s and %s, want neither arguments nor results", got.Arguments, got.Result)
			}
			if got.Toolbox != test.want.Toolbox || got.Server != test.want.Server || got.Tool != test.want.Tool || got.Outcome != test.want.Outcome ||
				got.Error != test.want.Error || got.Progress != test.want.Progress || got.Trace != test.want.Trace {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

// A server that ends in the middle of a call leaves its last words in the record; a call that is under way is there
// too.
func TestALostCallIsRecorded(t *testing.T) {
	l, log := recorded(t, calls.Full)
	l.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"dev__a__exit","arguments":{"n":7}}}`)
	l.reply("1")
	got := last(t, log)
	if got.Outcome != calls.Lost || !strings.Contains(got.Error, "exit status 7") || string(got.Arguments) != `{"n":7}` {
		t.Errorf("got %+v, want a call that was lost to exit status 7", got)
	}
	if len(got.Stderr) != 1 || !strings.Contains(got.Stderr[0].Text.String(), "last words") {
		t.Errorf("got %v, want the last words", got.Stderr)
	}
	l.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"dev__a__hang"}}`)
	l.send(`{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	l.reply("3")
	if got := last(t, log); got.Outcome != calls.Running || got.Tool != "hang" {
		t.Errorf("got %+v, want the call that is under way", got)
	}
	l.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	l.send(`{"jsonrpc":"2.0","id":4,"method":"ping"}`)
	l.reply("4")
	if got := last(t, log); got.Outcome != calls.Cancelled || got.Error != "" {
		t.Errorf("got %+v, want the call that was cancelled", got)
	}
}

// Secrets are neither in arguments nor in results, errors and names, whatever they come from.
func TestTheRecordHasNoSecrets(t *testing.T) {
	l, log := recorded(t, calls.Full)
	for i, canary := range []string{"canary-of-a-variable", "canary-of-a-secret", "ghp_canarycanarycanarycanary", "Bearer canary-of-a-header"} {
		for _, request := range []string{
			`"tools/call","params":{"name":"dev__a__echo","arguments":{"a":["x CANARY y"],"CANARY":1}}`,
			`"tools/call","params":{"name":"CANARY"}`,
			`"resources/read","params":{"uri":"x:CANARY"}`,
			`"tools/call","params":{"name":"workbench_use_tool","arguments":{"toolbox_name":"dev","tool_name":"echo","arguments":{"p":"CANARY"}}}`,
		} {
			id := fmt.Sprintf(`"%d %s"`, i, request[1:8])
			l.send(`{"jsonrpc":"2.0","id":` + id + `,"method":` + strings.ReplaceAll(request, "CANARY", canary) + `}`)
			if reply := l.reply(id); strings.Contains(request, "echo") && !strings.Contains(reply, canary) {
				t.Errorf("the client got %s, want it as it is", reply)
			}
		}
	}
	l.send(`{"jsonrpc":"2.0","id":"p","method":"tools/call","params":{"name":"dev__a__echo","arguments":{"password":"canary"}}}`)
	l.reply(`"p"`)
	all, err := json.Marshal(log.Calls(calls.Filter{}))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(all), "canary"); n != 0 {
		t.Errorf("got %d canaries in %s", n, all)
	}
}

// A name of three megabytes is not kept for the sake of the record.
func TestTheRecordIsBounded(t *testing.T) {
	l, log := recorded(t, calls.Full)
	long := strings.Repeat("x", 3<<20)
	for i := range 8 {
		id := fmt.Sprint(i)
		l.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"resources/read","params":{"uri":"x:` + long + `"}}`)
		l.reply(id)
	}
	l.send(`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"dev__a__echo","arguments":{"a":"` + long + `"}}}`)
	l.reply(`"a"`)
	if got := last(t, log); got.Arguments != nil || got.Result != nil || !got.ArgumentsLeft || !got.ResultLeft || got.In < 3<<20 {
		t.Errorf("got arguments and a result of %d and %d bytes, want neither, and that they are left out", len(got.Arguments), len(got.Result))
	}
	if n := log.Bytes(); n > 128<<10 {
		t.Errorf("got %d bytes, want at most a few thousand for each call", n)
	}
}

// Who follows gets every call, and holds up none.
func TestCallsAreFollowed(t *testing.T) {
	l, log := recorded(t, calls.Meta)
	ctx, cancel := context.WithTimeout(t.Context(), peerWait)
	defer cancel()
	seen := make(chan string)
	after := log.Last()
	stopped := make(chan error, 1)
	go func() {
		stopped <- log.Follow(ctx, after, calls.Filter{Failed: true}, func(c *calls.Call, missed uint64) error {
			if missed > 0 {
				return fmt.Errorf("%d missed", missed)
			}
			seen <- c.Tool
			return nil
		})
	}()
	for i, tool := range []string{"echo", "iserror", "echo", "fail"} {
		l.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"dev__a__%s"}}`, i, tool))
		l.reply(fmt.Sprint(i)) // though nobody has read seen yet
	}
	for _, want := range []string{"iserror", "fail"} {
		select {
		case got := <-seen:
			if got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		case err := <-stopped:
			t.Fatal(err)
		case <-time.After(peerWait):
			t.Fatalf("waited in vain for %s", want)
		}
	}
	cancel()
	if err := <-stopped; err != context.Canceled {
		t.Errorf("got %v at the end", err)
	}
}

// A server that is restarted loses the calls that it has, says so, and takes the next one; what it wrote before is
// there still.
func TestRestart(t *testing.T) {
	t.Parallel()
	front := newFront(t, readConfig(t, `{"toolboxes": {"dev": {"mcpServers": {"a": {"command": "child", "args": ["tools=hang,pid"]}}}}}`), "")
	l := connect(t, front)
	l.initialize("2025-11-25", "{}")
	l.direct("open", "dev")
	ask := func(method, resource string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		localfront.Servers(front).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, resource, nil))
		return w
	}
	if got := ask("POST", "/servers/restart?server=b"); got.Code != 404 {
		t.Errorf("got %d for a server that is not there", got.Code)
	}
	pid := func(id string) string {
		l.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"dev__a__pid"}}`)
		_, text, _ := strings.Cut(l.reply(id), `"text":"`)
		return text
	}
	before := pid("1")
	l.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"dev__a__hang"}}`)
	l.send(`{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	l.reply("3")
	if got := ask("POST", "/servers/restart?server=a&toolbox=dev").Body.String(); !strings.Contains(got, `"before":"ready"`) || strings.Contains(got, "error") {
		t.Errorf("got %s", got)
	}
	if got := l.reply("2"); !strings.Contains(got, "restarted it (workbench restart)") || !strings.Contains(got, "isError") {
		t.Errorf("got %s, want a call that says why it is lost", got)
	}
	if after := pid("4"); after == before || after == "" {
		t.Errorf("got process %s, want another than before", after)
	}
	if got := ask("GET", "/servers/lines?server=a").Body.String(); strings.Count(got, `"server starting"`) != 2 || strings.Count(got, `"server ready"`) != 2 {
		t.Errorf("got %s, want two starts", got)
	}
}
