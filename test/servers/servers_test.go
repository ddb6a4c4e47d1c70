package servers

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// TestServers compares what every server says directly with what it says through workbench, with a client of each era.
func TestServers(t *testing.T) {
	b := newBed(t)
	fleet := b.fleet()
	for _, modern := range []bool{false, true} {
		title := "client of " + wiretest.Legacy
		if modern {
			title = "client of " + wiretest.ModernOnly
		}
		t.Run(title, func(t *testing.T) {
			rows := make([]*row, len(fleet))
			for i, s := range fleet {
				rows[i] = &row{}
				t.Run("direct/"+s.name, func(t *testing.T) { rows[i].observation = b.observe(t, s, modern) })
			}
			if t.Failed() {
				return
			}
			defer writeTable(os.Stdout, title, rows)
			checkOddities(t, rows, modern)
			b.compare(t, rows, modern)
		})
	}
}

// checkOddities wants every server to be as odd as it was chosen for: one that has mended its ways tests nothing more.
func checkOddities(t *testing.T, rows []*row, modern bool) {
	t.Helper()
	for _, r := range rows {
		o := r.observation
		want := o.server.oddity
		if !modern && (strings.HasPrefix(want, "speaks 2026") || strings.HasPrefix(want, "unknown method")) {
			continue // to be seen by the other client alone
		}
		if want != "" && !slices.Contains(o.oddities, want) {
			t.Errorf("%s: got oddities %q want %q among them", o.server.name, o.oddities, want)
		}
	}
}

// session is workbench with all servers open.
type session struct {
	peer
	process *wiretest.Process
	exposed map[string]string                       // tools by server/name
	lists   map[string]map[string][]json.RawMessage // items by server and member
}

// compare opens all toolboxes in one workbench and holds what it says against what was observed.
func (b *bed) compare(t *testing.T, rows []*row, modern bool) {
	t.Helper()
	var fleet []server
	for _, r := range rows {
		fleet = append(fleet, r.observation.server)
	}
	process := b.workbench(t, b.config(fleet, modern))
	s := &session{peer: peer{Client: process.Client, bed: b, modern: modern}, process: process, exposed: make(map[string]string)}
	if modern {
		s.call(t, "server/discover", "{}")
	} else {
		process.Initialize(wiretest.Legacy, allCapabilities)
	}
	for _, name := range toolboxes(fleet) {
		s.open(t, name, rows)
	}
	s.split(t, rows)
	for _, r := range rows {
		t.Run(r.observation.server.name, func(t *testing.T) {
			s.checkLists(t, r)
			s.checkAnswers(t, r)
			s.checkUnknown(t, r)
			r.rss = rss(b.ownMark(r.observation.server))
		})
	}
	took(t, process.Stderr(), rows)
	process.CloseInput()
	if got := process.Exit(); got.ExitCode() != 0 {
		t.Errorf("got %v want exit status 0", got)
	}
	for _, r := range rows {
		if left := wiretest.Marked(b.ownMark(r.observation.server)); len(left) > 0 {
			r.fault(t, "left running: %v", left)
		}
	}
}

// fault fails the test and the server's verdict.
func (r *row) fault(tb testing.TB, format string, args ...any) {
	tb.Helper()
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
	tb.Errorf("%s: "+format, append([]any{r.observation.server.name}, args...)...)
}

// open opens a toolbox and wants its servers ready, with the tools that they have directly.
func (s *session) open(t *testing.T, name string, rows []*row) {
	t.Helper()
	reply := s.call(t, "tools/call", `{"name":"workbench_open_toolbox","arguments":{"detail":"schemas","toolbox_name":`+wiretest.JSON(name)+`}}`)
	if reply.Error != nil {
		t.Fatalf("open %s: got error %v", name, reply.Error)
	}
	var result struct {
		StructuredContent struct {
			Servers []struct {
				Name, State, Error string
				Tools              int
			}
			Tools []struct {
				Server, Name string
				Exposed      string `json:"exposed_name"`
			}
		}
	}
	unmarshal(t, "open", reply.Result, &result)
	opened := result.StructuredContent
	for _, r := range rows {
		o := r.observation
		if o.server.toolbox != name {
			continue
		}
		if len(opened.Servers) == 0 {
			r.fault(t, "is not in the result of the open")
			continue
		}
		got, want := opened.Servers[0], len(o.items["tools"])
		opened.Servers = opened.Servers[1:]
		if got.Name != o.server.name || got.State != "ready" || got.Tools != want {
			r.fault(t, "got server %+v want %s ready with %d tools", got, o.server.name, want)
		}
	}
	for _, tool := range opened.Tools {
		s.exposed[tool.Server+"/"+tool.Name] = tool.Exposed
	}
}

// split reads the lists and gives each server the items that are its own: they come in the order of the configuration,
// after the tools of workbench itself.
func (s *session) split(t *testing.T, rows []*row) {
	t.Helper()
	s.lists = make(map[string]map[string][]json.RawMessage)
	for _, r := range rows {
		s.lists[r.observation.server.name] = make(map[string][]json.RawMessage)
	}
	for _, l := range lists() {
		reply := s.call(t, l.method, "{}")
		if reply.Error != nil {
			t.Fatalf("%s: got error %v", l.method, reply.Error)
		}
		items := decode[[]json.RawMessage](t, l.method, decode[map[string]json.RawMessage](t, l.method, reply.Result)[l.member])
		for len(items) > 0 && strings.HasPrefix(key(t, items[0], l.key), "workbench_") {
			items = items[1:]
		}
		for _, r := range rows {
			n := min(len(r.observation.items[l.member]), len(items))
			s.lists[r.observation.server.name][l.member], items = items[:n], items[n:]
		}
		for _, item := range items {
			t.Errorf("%s: got an item more than all servers have: %s", l.method, wiretest.Clip(string(item)))
		}
	}
}
