package proxy_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// ask calls a tool and returns the text of its reply, result or error.
func (l *line) ask(id int, name, arguments string) string {
	l.t.Helper()
	l.send(callOf(id, name, arguments))
	return l.reply(fmt.Sprint(id))
}

// tools lists the names of the tools.
func (l *line) tools(id int) (names []string) {
	l.t.Helper()
	l.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, id))
	var list struct{ Tools []struct{ Name string } }
	l.result(fmt.Sprint(id), &list)
	for _, t := range list.Tools {
		names = append(names, t.Name)
	}
	return names
}

// openBox opens a toolbox as a client that lists its tools again.
func (l *line) openBox(id, name string) {
	l.t.Helper()
	l.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"tools/call","params":{"name":"workbench_open_toolbox","arguments":{"toolbox_name":%q}}}`, id, name))
	l.method("notifications/tools/list_changed")
	l.send(`{"jsonrpc":"2.0","id":"listed ` + id + `","method":"tools/list"}`)
	l.forget(l.reply(`"listed ` + id + `"`))
	l.forget(l.reply(`"` + id + `"`))
}

// sync returns when the front has taken all that was sent before.
func (l *line) sync() {
	l.t.Helper()
	l.send(`{"jsonrpc":"2.0","id":"sync","method":"ping"}`)
	l.forget(l.reply(`"sync"`))
}

// announced returns the methods of the notifications that came and nobody waited for.
func (l *line) announced() (methods []string) {
	l.t.Helper()
	l.sync()
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, text := range l.got {
		var m wire.Message
		if err := wire.Scan([]byte(text), &m); err != nil {
			l.t.Fatal(err)
		}
		if !l.used[i] && m.Kind == wire.Notification {
			l.used[i] = true
			methods = append(methods, strings.Trim(string(m.Bytes(m.Method)), `"`))
		}
	}
	slices.Sort(methods)
	return methods
}

// hears waits until the client was told of other lists by these methods, in any order, and of nothing else.
func (l *line) hears(methods ...string) {
	l.t.Helper()
	for _, method := range methods {
		l.method(method)
	}
	if more := l.announced(); more != nil {
		l.t.Errorf("besides %v the client was told %v", methods, more)
	}
}

// text gives the text of a tool's result.
func text(t *testing.T, reply string) string {
	t.Helper()
	var r struct {
		Result struct{ Content []struct{ Text string } }
	}
	if err := json.Unmarshal([]byte(reply), &r); err != nil || len(r.Result.Content) == 0 {
		t.Fatalf("got %s, want a result", reply)
	}
	return r.Result.Content[0].Text
}

// boxOf is a configuration of the toolbox dev with these servers.
func boxOf(servers string) string {
	return `{"openTimeout": "20s", "toolboxes": {"dev": {"mcpServers": {` + servers + `}}}}`
}

// A server that did not change goes on as the same process, one that was removed finishes what it has, one that was
// changed or added is there.
func TestReload(t *testing.T) {
	t.Parallel()
	const unchanged = `"same": {"command": "child"}`
	front := newFront(t, readConfig(t, boxOf(unchanged+`,"leaves": {"command": "child"}, "changes": {"command": "child"}`)), "")
	l := connect(t, front)
	l.initialize("2025-11-25", "{}")
	l.openBox("open", "dev")
	pid := text(t, l.ask(1, "dev__same__pid", "{}"))
	before := text(t, l.ask(2, "dev__changes__pid", "{}"))
	l.send(callOf(3, "dev__leaves__sleep", `{"n":700}`))
	l.send(callOf(4, "dev__changes__sleep", `{"n":700}`))
	l.send(callOf(5, "dev__same__sleep", `{"n":700}`))
	l.sync()

	front.Reload(readConfig(t, boxOf(`"new": {"command": "child"}, `+unchanged+`,"changes": {"command": "child", "args": ["tools=pid,sleep,ech"]}`)))

	if reply := l.ask(6, "dev__leaves__echo", "{}"); !strings.Contains(reply, "tool not found") || !strings.Contains(reply, "did you mean") {
		t.Errorf("a tool of a server that was removed: got %s, want that it is not found, and the nearest", reply)
	}
	if got := text(t, l.ask(7, "dev__changes__pid", "{}")); got == before {
		t.Errorf("a server that was changed is still process %s", got)
	}
	if got := text(t, l.ask(8, "dev__same__pid", "{}")); got != pid {
		t.Errorf("a server that was not changed: got process %s, want %s", got, pid)
	}
	for id := 3; id <= 5; id++ {
		if got := text(t, l.reply(fmt.Sprint(id))); got != "slept" {
			t.Errorf("call %d, which was under way: got %q, want its result", id, got)
		}
	}
	l.method("notifications/tools/list_changed")
	text(t, l.ask(9, "workbench_use_tool", `{"toolbox_name":"dev","tool_name":"new/pid"}`))
	listed := l.tools(10)
	for name, want := range map[string]bool{"dev__new__pid": true, "dev__same__pid": true, "dev__changes__ech": true, "dev__changes__echo": false, "dev__leaves__pid": false} {
		if got := slices.Contains(listed, name); got != want {
			t.Errorf("%s is listed: got %v, want %v", name, got, want)
		}
	}
	l.close()
}

// What a client is told of is what has changed for it.
func TestReloadAnnounces(t *testing.T) {
	t.Parallel()
	const (
		a     = `"a": {"command": "inside", "args": ["tools=x,y", "prompts=p"]}`
		b     = `"b": {"command": "inside", "args": ["tools=x", "resources=r:1"]}`
		plain = `{"toolboxes": {"dev": {"description": "d", "mcpServers": {` + a + `,` + b + `}}, "other": {"mcpServers": {}}}}`
	)
	const tools, prompts, resources = "notifications/tools/list_changed", "notifications/prompts/list_changed", "notifications/resources/list_changed"
	tests := []struct {
		name, config string
		want         []string
	}{
		{"nothing", plain, nil},
		{"lines", strings.ReplaceAll(plain, "{", "{\n"), nil},
		{"openTimeout", `{"openTimeout": "3s",` + plain[1:], nil},
		{"toolMode", `{"toolMode": "proxy",` + plain[1:], []string{tools}},
		{"description", strings.Replace(plain, `"d"`, `"of another kind"`, 1), []string{tools}}, // the meta tools hold it
		{"prefix", strings.Replace(plain, `"description": "d"`, `"description": "d", "prefix": "none"`, 1), []string{prompts, tools}},
		{"toolFilters", strings.Replace(plain, `"prompts=p"]`, `"prompts=p"], "toolFilters": ["!y"]`, 1), []string{tools}},
		{"timeouts", strings.Replace(plain, `"prompts=p"]`, `"prompts=p"], "timeouts": {"callIdle": "3s"}`, 1), nil},
		{"another order of servers", `{"toolboxes": {"dev": {"description": "d", "mcpServers": {` + b + `,` + a + `}}, "other": {"mcpServers": {}}}}`, []string{tools}},
		{"a server less", `{"toolboxes": {"dev": {"description": "d", "mcpServers": {` + a + `}}, "other": {"mcpServers": {}}}}`, []string{resources, tools}},
		{"a toolbox less that is not open", `{"toolboxes": {"dev": {"description": "d", "mcpServers": {` + a + `,` + b + `}}}}`, []string{tools}},
		{"no toolboxes", `{"toolboxes": {}}`, []string{prompts, resources, tools}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			front := newFront(t, readConfig(t, plain), "")
			l := connect(t, front)
			l.initialize("2025-11-25", "{}")
			l.openBox("open", "dev")
			l.announced()
			// Of a modern client the meta tools are all that is listed.
			modern := connect(t, front)
			modern.send(`{"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"promptsListChanged":true},` + meta(``) + `}}`)
			modern.method("notifications/subscriptions/acknowledged")

			front.Reload(readConfig(t, test.config))
			l.hears(test.want...)
			var want []string
			if slices.Contains([]string{"description", "a toolbox less that is not open", "no toolboxes"}, test.name) {
				want = []string{tools}
			}
			modern.hears(want...)
		})
	}
}

// What a client was told at its start, and what it is told of toolboxes, is that of the configuration of its time.
func TestReloadToolboxes(t *testing.T) {
	t.Parallel()
	front := newFront(t, readConfig(t, boxOf(`"a": {"command": "inside"}`)), "")
	l := connect(t, front)
	l.initialize("2025-11-25", "{}")
	l.openBox("open", "dev")
	l.announced()

	front.Reload(readConfig(t, `{"openTimeout": "20s", "toolboxes": {"marked": {"open": true, "mcpServers": {"c": {"command": "child", "args": ["tools=pid"]}}}, "development": {"mcpServers": {}}}}`))
	// First that the lists are others, then that the new toolbox is there.
	l.method("notifications/tools/list_changed")
	if got := l.tools(1); !slices.Contains(got, "marked__c__pid") || slices.ContainsFunc(got, func(name string) bool { return strings.HasPrefix(name, "dev__") }) {
		t.Errorf("got tools %v, want those of the toolbox that is open now and none of the one that is gone", got)
	}
	if got := l.ask(2, "workbench_open_toolbox", `{"toolbox_name":"dev"}`); !strings.Contains(got, "not found") || !strings.Contains(got, "development") {
		t.Errorf("opening a toolbox that is gone: got %s, want that it is not found, and the nearest", got)
	}
	later := connect(t, front)
	later.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	if got := later.reply("1"); !strings.Contains(got, "development (0 servers)") || strings.Contains(got, "dev (") {
		t.Errorf("a client that came later: got %s, want the toolboxes of now", got)
	}
	front.Reload(readConfig(t, boxOf(`"a": {"command": "inside"}`)))
	l.openBox("again", "dev")
	if got := text(t, l.ask(3, "dev__a__echo", `{"text":"x"}`)); got == "" {
		t.Error("a toolbox that came back does nothing")
	}
	later.close()
	l.close()
}

// What changed while a toolbox was being opened is told when that is over.
func TestReloadDuringAnOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const marked = `"marked": {"open": true, "mcpServers": {"slow": {"command": "inside", "args": ["silent=initialize,server/discover"]}}}`
		front := newFront(t, readConfig(t, `{"toolboxes": {`+marked+`, "dev": {"mcpServers": {"a": {"command": "inside", "args": ["prompts=p"]}}}}}`), "")
		l := connect(t, front)
		l.initialize("2025-11-25", "{}")
		l.ask(1, "workbench_open_toolbox", `{"toolbox_name":"dev"}`)
		l.announced()
		front.Reload(readConfig(t, `{"toolboxes": {`+marked+`}}`))
		if got := l.announced(); got != nil {
			t.Errorf("while it is being opened: got %v, want nothing", got)
		}
		l.method("notifications/prompts/list_changed")
		l.close()
	})
}

// A client that is served one toolbox sees nothing while that is gone.
func TestReloadDirect(t *testing.T) {
	there := boxOf(`"a": {"command": "inside", "args": ["tools=x", "prompts=p"]}`)
	front := newFront(t, readConfig(t, there), "dev")
	l := connect(t, front)
	l.initialize("2025-11-25", "{}")
	if got := l.tools(1); !slices.Equal(got, []string{"x"}) {
		t.Fatalf("got tools %v, want x", got)
	}
	l.send(`{"jsonrpc":"2.0","id":5,"method":"prompts/list"}`)
	l.reply("5")
	l.announced()
	front.Reload(readConfig(t, `{"toolboxes": {}}`))
	l.hears("notifications/prompts/list_changed", "notifications/tools/list_changed")
	if got := l.tools(2); got != nil {
		t.Errorf("got tools %v, want none", got)
	}
	if got := l.ask(3, "x", "{}"); !strings.Contains(got, `toolbox \"dev\", which this client uses, is no longer in the configuration`) {
		t.Errorf("got %s, want why there is no such tool", got)
	}
	front.Reload(readConfig(t, there))
	l.method("notifications/tools/list_changed")
	if got := l.tools(4); !slices.Equal(got, []string{"x"}) {
		t.Errorf("when the toolbox is there again: got tools %v, want x", got)
	}
	l.close()
}

// A server that sessions share is replaced once for all of them.
func TestReloadShared(t *testing.T) {
	t.Parallel()
	config := func(servers string) string { return boxOf(`"own": {"command": "inside"}` + servers) }
	front := newFront(t, readConfig(t, config(`, "same": {"command": "child", "shared": true}, "changes": {"command": "child", "shared": true}, "joins": {"command": "child"}`)), "")
	var lines [2]*line
	pids := func(id int, server string) [2]string {
		t.Helper()
		var all [2]string
		for i, l := range lines {
			all[i] = text(t, l.ask(id, "dev__"+server+"__pid", "{}"))
		}
		return all
	}
	for i := range lines {
		lines[i] = connect(t, front)
		lines[i].initialize("2025-11-25", "{}")
		lines[i].openBox("open", "dev")
	}
	same, changes, joins := pids(1, "same"), pids(2, "changes"), pids(3, "joins")
	lines[0].send(callOf(4, "dev__changes__sleep", `{"n":500}`))
	lines[0].sync()
	front.Reload(readConfig(t, config(`, "same": {"command": "child", "shared": true}, "changes": {"command": "child", "args": ["tools=pid"], "shared": true}, "joins": {"command": "child", "shared": true}`)))
	if got := pids(5, "same"); got != same {
		t.Errorf("a shared server that was not changed: got processes %v, want %v", got, same)
	}
	if got := pids(6, "changes"); got[0] != got[1] || got[0] == changes[0] {
		t.Errorf("a shared server that was changed: got processes %v after %v, want one other", got, changes)
	}
	for _, l := range lines {
		// It is one more start until the server that is shared now is known.
		for id := 100; !slices.Contains(l.tools(id), "dev__joins__pid"); id++ {
			l.method("notifications/tools/list_changed")
		}
	}
	if got := pids(7, "joins"); got[0] != got[1] || joins[0] == joins[1] {
		t.Errorf("a server that is shared now: got processes %v after %v, want one", got, joins)
	}
	if got := text(t, lines[0].reply("4")); got != "slept" {
		t.Errorf("the call that was under way: got %q, want its result", got)
	}
	front.Reload(readConfig(t, `{"toolboxes": {"other": {"mcpServers": {}}}}`))
	for _, l := range lines {
		if got := l.ask(8, "dev__same__pid", "{}"); !strings.Contains(got, "tool not found") {
			t.Errorf("after the toolbox was removed: got %s, want that there is no such tool", got)
		}
		l.close()
	}
	if err := front.Close(); err != nil {
		t.Error(err)
	}
}

// A call that waits for a server which is starting waits for the one that a reload puts in its place.
func TestReloadOfAServerThatIsWaitedFor(t *testing.T) {
	for name, settings := range map[string]string{"own": "", "shared": `, "shared": true`} {
		t.Run(name, func(t *testing.T) {
			config := func(args string) string {
				return fmt.Sprintf(`{"toolboxes": {"dev": {"mcpServers": {"s": {"command": "inside", "args": [%s]%s}}}}}`, args, settings)
			}
			synctest.Test(t, func(t *testing.T) {
				front := newFront(t, readConfig(t, config(`"silent=initialize,server/discover"`)), "")
				l := connect(t, front)
				l.initialize("2025-11-25", "{}")
				l.send(callOf(1, "workbench_use_tool", `{"toolbox_name":"dev","server_name":"s","tool_name":"echo","arguments":{"n":1}}`))
				synctest.Wait()
				front.Reload(readConfig(t, config("")))
				if got := text(t, l.reply("1")); got != `{"n":1}` {
					t.Errorf("got %q, want the answer of the new server", got)
				}
				l.close()
				if err := front.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
