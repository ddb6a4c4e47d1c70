package proxy_test

import (
	"fmt"
	"testing"

	"github.com/mcp-workbench/workbench/internal/status"
)

// Every end that a call can have is counted as what it is, and the time that calls take from when it is wanted.
func TestOutcomes(t *testing.T) {
	front := newFront(t, readConfig(t, `{"toolboxes": {"dev": {"mcpServers": {
		"a": {"command": "child", "args": ["tools=echo,fail,iserror,hang,exit"]}}}}}`), "")
	l := connect(t, front)
	l.initialize("2025-11-25", "{}")
	l.direct("open", "dev")
	id := 0
	call := func(tool string) {
		id++
		l.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"dev__a__%s","arguments":{"isError":true}}}`, id, tool))
	}
	count := func(server string) status.Outcomes {
		for _, c := range front.Status().Calls {
			if c.Toolbox == "dev" && c.Server == server {
				return c.Outcomes
			}
		}
		return status.Outcomes{}
	}
	for _, tool := range []string{"echo", "fail", "iserror", "exit"} {
		call(tool)
		l.reply(fmt.Sprint(id))
	}
	call("echo") // when this is answered the server that exited is back
	l.reply(fmt.Sprint(id))
	call("hang")
	l.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id))
	l.send(`{"jsonrpc":"2.0","id":"ping","method":"ping"}`)
	l.reply(`"ping"`)
	want := status.Outcomes{OK: 2, ToolError: 1, Error: 1, Lost: 1, Cancelled: 1}
	if got := count("a"); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := front.Status().Calls[0].Durations.Count; got != 0 {
		t.Errorf("%d calls were timed, want none before it is wanted", got)
	}
	front.TimeCalls()
	call("echo")
	l.reply(fmt.Sprint(id))
	timed := front.Status().Calls[0].Durations
	if timed.Count != 1 || timed.Sum <= 0 || timed.Counts[300] != 1 {
		t.Errorf("got %+v, want the one call that was timed", timed)
	}
	l.close()
	if got := count("a"); got.OK != 3 {
		t.Errorf("after the session: got %+v, want what was counted before", got)
	}
	if got := front.Status().Sessions; len(got) != 0 {
		t.Errorf("after the session: got %+v, want no session", got)
	}
}
