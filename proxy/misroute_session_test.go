package proxy_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy"
	"github.com/mcp-workbench/workbench/toolbox"
)

// The same through a session: servers that list these tools, reloads in between, and calls that say who got them.
func TestHostileNamesInSession(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r, met := rand.New(rand.NewPCG(seed, 2)), make(map[string]int)
	for range drawsOf(t, 20000) / 4000 {
		synctest.Test(t, func(t *testing.T) { newNameSession(t, r, met).run() })
	}
	t.Logf("%v", met)
	if met["seen"] == 0 || met["used"] == 0 || met["unseen"] == 0 || met["unused"] == 0 {
		t.Errorf("got %v, want some of each", met)
	}
}

// nameSession is a session beside its model.
type nameSession struct {
	*nameWorld
	t     *testing.T
	met   map[string]int
	front *proxy.Proxy
	c     *caller
	step  int
}

func newNameSession(t *testing.T, r *rand.Rand, met map[string]int) *nameSession {
	w := &nameSession{nameWorld: newNameWorld(r), t: t, met: met}
	w.change()
	direct := ""
	if w.direct {
		direct = w.boxes[0].Name
	}
	var err error
	w.front, err = proxy.New(w.config(), proxy.Options{Version: "test", Direct: direct, Toolbox: toolbox.Options{
		Builtins: map[string]toolbox.Builtin{inside: w.server},
	}})
	if err != nil {
		t.Fatal(err)
	}
	w.c = newCaller(w.front)
	w.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
	return w
}

// server makes a server of the model.
func (w *nameSession) server(_ principal.Principal, s config.Server) (wire.Endpoint, error) {
	made := &mcptest.Server{Name: s.Env["BOX"] + "|" + s.Name, Tools: []string{}}
	for _, t := range w.tools {
		if t.Toolbox == s.Env["BOX"] && t.Server == s.Name {
			name := wire.AppendQuote(nil, t.Key)
			made.Tools = append(made.Tools, fmt.Sprintf(`{"name":%s,"inputSchema":{"type":"object"}}`, name))
		}
	}
	return made, nil
}

// config is the model's configuration, in which each server is to be started again.
func (w *nameSession) config() *config.Config {
	// A name that JSON cannot carry is nobody's.
	w.tools = slices.DeleteFunc(w.tools, func(t proxy.Named) bool { return !utf8.ValidString(t.Key) })
	w.shown = w.naming.Become(w.nameWorld.direct, w.boxes, w.tools)
	w.step++
	var boxes []string
	for _, b := range w.boxes {
		var servers []string
		for _, s := range b.Servers {
			env := fmt.Sprintf(`{"BOX": %q, "STEP": "%d"}`, b.Name, w.step)
			servers = append(servers, fmt.Sprintf(`%q: {"command": "inside", "env": %s}`, s.Name, env))
		}
		in := strings.Join(servers, ", ")
		boxes = append(boxes, fmt.Sprintf(`%q: {"open": true, "prefix": %q, "mcpServers": {%s}}`, b.Name, b.Prefix, in))
	}
	return readConfig(w.t, `{"toolboxes": {`+strings.Join(boxes, ", ")+`}}`)
}

func (w *nameSession) ask(method, params string) string {
	w.t.Helper()
	text, err := w.c.request(method, params)
	if err != nil {
		w.t.Fatal(err)
	}
	return text
}

func (w *nameSession) run() {
	for step := range 6 {
		if step > 0 {
			w.change()
			w.front.Reload(w.config())
		}
		synctest.Wait()
		w.list()
		for range 60 {
			w.call()
		}
	}
	if err := w.c.session.Close(w.t.Context()); err != nil {
		w.t.Error(err)
	}
	if err := w.front.Close(); err != nil {
		w.t.Error(err)
	}
}

// list compares the list of tools with the model's. With it the names are given.
func (w *nameSession) list() {
	var list struct {
		Result struct{ Tools []struct{ Name string } }
	}
	if err := json.Unmarshal([]byte(w.ask("tools/list", "{}")), &list); err != nil {
		w.t.Fatal(err)
	}
	var got []string
	for _, tool := range list.Result.Tools {
		if w.direct || !strings.HasPrefix(tool.Name, "workbench_") {
			got = append(got, tool.Name)
		}
	}
	want := slices.Clone(w.shown)
	slices.Sort(want)
	slices.Sort(got)
	if want = slices.Compact(want); !slices.Equal(got, want) {
		w.t.Errorf("step %d: got the tools %q, want %q\n%s", w.step, got, want, w.nameWorld)
	}
	w.naming.Give("")
	for i, tool := range w.tools {
		if w.shown[i] == tool.Key {
			w.given[[2]string{"", tool.Key}] = tool
		}
	}
}

// call calls a tool by some name, and compares who was called with what the oracle says.
func (w *nameSession) call() {
	name := w.name()
	if name == "" || !utf8.ValidString(name) || isMeta(name) {
		return
	}
	kind, want := "seen", (*proxy.Named)(nil)
	params := fmt.Sprintf(`{"name":%s,"arguments":{}}`, wire.AppendQuote(nil, name))
	if w.direct || len(w.ever) == 0 || w.r.IntN(3) == 0 {
		want = w.seen(name)
		_, _ = w.naming.Meant("", "", name)
	} else {
		kind = "used"
		of := pick(w.r, w.ever)
		if w.r.IntN(4) > 0 {
			of.Server = ""
		}
		want = w.used(of.Toolbox, of.Server, name)
		_, _ = w.naming.Meant(of.Toolbox, of.Server, name)
		server := ""
		if of.Server != "" {
			server = fmt.Sprintf(`"server":%q,`, of.Server)
		}
		params = fmt.Sprintf(`{"name":"workbench_use_tool","arguments":{"tool":{"toolbox":%q,%s"name":%s}}}`,
			of.Toolbox, server, wire.AppendQuote(nil, name))
	}
	reply := w.ask("tools/call", params)
	if want == nil {
		w.met["un"+kind]++
		if !strings.Contains(reply, `"isError":true`) && !strings.Contains(reply, `"error":{`) {
			w.t.Errorf("%s: got %s, want an error\n%s", params, reply, w.nameWorld)
		}
		return
	}
	w.met[kind]++
	called := fmt.Sprintf("%s|%s's %s was called", want.Toolbox, want.Server, want.Key)
	if !strings.Contains(reply, strings.Trim(string(wire.AppendQuote(nil, called)), `"`)) {
		w.t.Errorf("%s: got %s, want %s\n%s", params, reply, called, w.nameWorld)
	}
}
