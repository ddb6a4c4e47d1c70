package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy"
	"github.com/mcp-workbench/workbench/toolbox"
)

// The model: a configuration as it is edited, and what a session that has opened some of its toolboxes is to see of it.
type (
	walkServer struct {
		name             string
		version          int // another is another start
		filtered         bool
		disabled, shared bool
		idle             int // minutes of callIdle
	}
	walkBox struct {
		name, description string
		open, plain       bool
		servers           []walkServer
	}
	walk struct {
		byUseAlone bool // toolMode proxy
		boxes      []walkBox
		opened     map[string]bool
		starts     map[string]int // of servers, by toolbox/server
		running    map[string]walkServer
		echo       string // whose tool of that name the client was first shown under it, as toolbox/server
	}
)

// text writes the configuration.
func (w *walk) text() string {
	mode := "auto"
	if w.byUseAlone {
		mode = "proxy"
	}
	var boxes []string
	for _, b := range w.boxes {
		var servers []string
		for _, s := range b.servers {
			filters := ""
			if s.filtered {
				filters = `, "toolFilters": ["!echo"]`
			}
			servers = append(servers, fmt.Sprintf(`%q: {"command": "inside", "args": ["tools=echo,%s"], "env": {"ID": "%s/%s"}, "disabled": %t, "shared": %t, "timeouts": {"callIdle": "%dm"}%s}`,
				s.name, s.tool(b.name), b.name, s.name, s.disabled, s.shared, s.idle, filters))
		}
		prefix := "toolbox"
		if b.plain {
			prefix = "none"
		}
		boxes = append(boxes, fmt.Sprintf(`%q: {"description": %q, "open": %t, "prefix": %q, "mcpServers": {%s}}`, b.name, b.description, b.open, prefix, strings.Join(servers, ", ")))
	}
	return fmt.Sprintf(`{"toolMode": %q, "toolboxes": {%s}}`, mode, strings.Join(boxes, ", "))
}

// tool is the tool that a server has besides echo.
func (s *walkServer) tool(box string) string { return fmt.Sprintf("%s_%s_%d", box, s.name, s.version) }

// edit changes the configuration at random.
func (w *walk) edit(r *rand.Rand) {
	names := []string{"a", "b", "c"}
	if len(w.boxes) == 0 || r.IntN(8) == 0 {
		name := names[r.IntN(len(names))]
		if i := slices.IndexFunc(w.boxes, func(b walkBox) bool { return b.name == name }); i >= 0 {
			w.boxes = slices.Delete(w.boxes, i, i+1)
		} else {
			w.boxes = slices.Insert(w.boxes, r.IntN(len(w.boxes)+1), walkBox{name: name})
		}
		return
	}
	b := &w.boxes[r.IntN(len(w.boxes))]
	switch r.IntN(10) {
	case 0:
		w.byUseAlone = !w.byUseAlone
	case 1:
		b.description = fmt.Sprint("the ", r.IntN(3), "th")
	case 2:
		b.open = !b.open
	case 3:
		b.plain = !b.plain
	case 4:
		r.Shuffle(len(b.servers), func(i, j int) { b.servers[i], b.servers[j] = b.servers[j], b.servers[i] })
	case 5, 6:
		name := []string{"x", "y", "z"}[r.IntN(3)]
		if i := slices.IndexFunc(b.servers, func(s walkServer) bool { return s.name == name }); i >= 0 {
			b.servers = slices.Delete(b.servers, i, i+1)
		} else {
			b.servers = append(b.servers, walkServer{name: name, idle: 1})
		}
	default:
		if len(b.servers) == 0 {
			return
		}
		s := &b.servers[r.IntN(len(b.servers))]
		switch r.IntN(5) {
		case 0:
			s.version = r.IntN(3)
		case 1:
			s.filtered = !s.filtered
		case 2:
			s.disabled = !s.disabled
		case 3:
			s.shared = !s.shared
		case 4:
			s.idle = 1 + r.IntN(3)
		}
	}
}

// settle follows what the session does by the configuration: it opens what is open without being asked for, and starts
// and ends servers.
func (w *walk) settle() {
	there := make(map[string]walkServer)
	known := make(map[string]bool)
	for _, b := range w.boxes {
		known[b.name] = true
		w.opened[b.name] = w.opened[b.name] || b.open
		for _, s := range b.servers {
			if w.opened[b.name] && !s.disabled {
				there[b.name+"/"+s.name] = walkServer{version: s.version, shared: s.shared} // what its start depends on
			}
		}
	}
	maps.DeleteFunc(w.opened, func(name string, _ bool) bool { return !known[name] })
	for id, s := range there {
		if before, ok := w.running[id]; !ok || before != s {
			w.starts[id]++
		}
	}
	w.running = there
}

// listed are the tools that the session is shown, and useful those that it can call through workbench_use_tool, as
// toolbox and server/tool.
func (w *walk) listed() (listed []string, useful [][2]string) {
	listed = []string{"workbench_open_toolbox", "workbench_use_tool", "workbench_find_tools", "workbench_status"}
	var echoes []string
	for _, b := range w.boxes {
		for _, s := range b.servers {
			if w.opened[b.name] && b.plain && !s.disabled && !s.filtered {
				echoes = append(echoes, b.name+"/"+s.name)
			}
		}
	}
	if len(echoes) == 1 && w.echo == "" {
		w.echo = echoes[0]
	}
	for _, b := range w.boxes {
		for _, s := range b.servers {
			if !w.opened[b.name] || s.disabled {
				continue
			}
			for _, tool := range []string{"echo", s.tool(b.name)} {
				name := tool
				if !b.plain || tool == "echo" && (len(echoes) > 1 || w.echo != b.name+"/"+s.name) {
					name = b.name + "__" + s.name + "__" + tool
				}
				if tool == "echo" && s.filtered {
					continue
				}
				useful = append(useful, [2]string{b.name, s.name + "/" + tool})
				if b.open || !w.byUseAlone {
					listed = append(listed, name)
				}
			}
		}
	}
	return listed, useful
}

// lives counts the sessions that servers in this process have and had.
type lives struct {
	mu            sync.Mutex
	begun, ending map[string]int
}

func (l *lives) make(_ principal.Principal, s config.Server) (wire.Endpoint, error) {
	server, err := mcptest.New(s.Args...)
	return life{server, l, s.Env["ID"]}, err
}

func (l *lives) add(to map[string]int, id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	to[id]++
}

// counts returns how many sessions servers had, and how many of them they have.
func (l *lives) counts() (begun, now map[string]int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now = make(map[string]int)
	for id, n := range l.begun {
		if n > l.ending[id] {
			now[id] = n - l.ending[id]
		}
	}
	return maps.Clone(l.begun), now
}

type life struct {
	wire.Endpoint
	l  *lives
	id string
}

// Connect implements wire.Endpoint.
func (e life) Connect(send func([]byte)) wire.Session {
	e.l.add(e.l.begun, e.id)
	return &lived{Session: e.Endpoint.Connect(send), ended: sync.OnceFunc(func() { e.l.add(e.l.ending, e.id) })}
}

type lived struct {
	wire.Session
	ended func()
}

// Close implements wire.Session.
func (s *lived) Close(ctx context.Context) error {
	defer s.ended()
	return s.Session.Close(ctx)
}

// TestReloadWalk edits a configuration at random and wants the session to see what the model says, servers to be
// started when they must be and no oftener, and the client to be told of another list and of no other.
func TestReloadWalk(t *testing.T) {
	t.Parallel()
	for range 4 {
		seed := rand.Uint64()
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { newWalker(t, seed).run(100) })
		})
	}
}

type walker struct {
	t     *testing.T
	r     *rand.Rand
	model walk
	lives *lives
	front *proxy.Proxy
	c     *caller
	known string // the list that the client read last
}

func newWalker(t *testing.T, seed uint64) *walker {
	w := &walker{t: t, r: rand.New(rand.NewPCG(seed, 1)), lives: &lives{begun: make(map[string]int), ending: make(map[string]int)}}
	w.model = walk{opened: make(map[string]bool), starts: make(map[string]int)}
	for range 20 {
		w.model.edit(w.r)
	}
	var err error
	w.front, err = proxy.New(readConfig(t, w.model.text()), proxy.Options{Version: "test", Toolbox: toolbox.Options{
		Builtins: map[string]toolbox.Builtin{inside: w.lives.make},
	}})
	if err != nil {
		t.Fatal(err)
	}
	w.c = newCaller(w.front)
	w.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
	w.c.mu.Lock()
	w.c.session.Receive([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	w.c.mu.Unlock()
	return w
}

func (w *walker) ask(method, params string) string {
	w.t.Helper()
	text, err := w.c.request(method, params)
	if err != nil {
		w.t.Fatal(err)
	}
	return text
}

func (w *walker) run(steps int) {
	for step := range steps {
		told, known := w.c.told.Load(), w.known
		if step > 0 {
			edits := 1 + w.r.IntN(3)
			for range edits {
				w.model.edit(w.r)
			}
			w.front.Reload(readConfig(w.t, w.model.text()))
			synctest.Wait()
		}
		started := maps.Clone(w.model.starts)
		w.model.settle()
		w.look(step)
		switch told, other := w.c.told.Load() > told, w.known != known; {
		case step == 0:
		case other && !told:
			w.t.Errorf("step %d: the client was not told that its list is another", step)
		case !other && told && maps.Equal(started, w.model.starts): // else it may have been another in between
			w.t.Errorf("step %d: the client was told that its list is another, and it is not", step)
		}
		if len(w.model.boxes) > 0 && w.r.IntN(5) == 0 {
			name := w.model.boxes[w.r.IntN(len(w.model.boxes))].name
			w.model.opened[name] = true
			w.model.settle()
			w.ask("tools/call", fmt.Sprintf(`{"name":"workbench_open_toolbox","arguments":{"toolbox_name":%q}}`, name))
			synctest.Wait()
			w.look(step)
		}
		if w.t.Failed() {
			w.t.Logf("at step %d the configuration was %s, and open was %v", step, w.model.text(), w.model.opened)
			break
		}
	}
	if err := w.c.session.Close(w.t.Context()); err != nil {
		w.t.Error(err)
	}
	if err := w.front.Close(); err != nil {
		w.t.Error(err)
	}
	if _, now := w.lives.counts(); len(now) > 0 {
		w.t.Errorf("in the end there are the servers %v", now)
	}
}

// look compares what the client sees with the model.
func (w *walker) look(step int) {
	reply := w.ask("tools/list", "{}")
	var list struct {
		Result struct{ Tools []struct{ Name string } }
	}
	if err := json.Unmarshal([]byte(reply), &list); err != nil {
		w.t.Fatal(err)
	}
	var got []string
	for _, tool := range list.Result.Tools {
		got = append(got, tool.Name)
	}
	listed, useful := w.model.listed()
	if !slices.Equal(got, listed) {
		w.t.Errorf("step %d: got tools %v, want %v", step, got, listed)
	}
	_, w.known, _ = strings.Cut(reply, `"result":`)
	synctest.Wait()
	begun, now := w.lives.counts()
	if !maps.Equal(begun, w.model.starts) {
		w.t.Errorf("step %d: got starts %v, want %v", step, begun, w.model.starts)
	}
	for id, n := range now {
		if _, ok := w.model.running[id]; !ok || n != 1 {
			w.t.Errorf("step %d: %s runs %d times, want one for each of %v", step, id, n, slices.Sorted(maps.Keys(w.model.running)))
		}
	}
	if len(listed) > 3 {
		name := listed[3+w.r.IntN(len(listed)-3)]
		if got := w.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{}}`, name)); !strings.Contains(got, `"result"`) || strings.Contains(got, "isError") {
			w.t.Errorf("step %d: %s answered %s", step, name, got)
		}
	}
	if len(useful) > 0 {
		u := useful[w.r.IntN(len(useful))]
		if got := w.ask("tools/call", fmt.Sprintf(`{"name":"workbench_use_tool","arguments":{"toolbox_name":%q,"tool_name":%q,"arguments":{}}}`, u[0], u[1])); !strings.Contains(got, `"result"`) || strings.Contains(got, "isError") {
			w.t.Errorf("step %d: %v answered %s", step, u, got)
		}
	}
}
