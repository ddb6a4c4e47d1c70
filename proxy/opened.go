package proxy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/habits"
	"github.com/mcp-workbench/workbench/internal/shellword"
	"github.com/mcp-workbench/workbench/internal/tokencount"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/meta"
	"github.com/mcp-workbench/workbench/proxy/naming"
	"github.com/mcp-workbench/workbench/proxy/shelf"
	"github.com/mcp-workbench/workbench/toolbox"
)

// detail is how much an open says of the tools of a server.
type detail int

const (
	counted    detail = iota // how many there are
	named                    // their names
	signed                   // names and parameters
	summarised               // and the first sentences of the descriptions
	defined                  // the definitions
)

// detailOf reads a value of the argument detail.
func detailOf(name string) (detail, bool) {
	i := slices.Index(meta.Details(), name)
	return []detail{counted, named, summarised, defined}[i+1], i >= 0
}

const (
	// maxSummary is how long a first sentence may be.
	maxSummary = 100
	// leastTrouble is how much of a reason or a note is shown however many there are.
	leastTrouble = 100
)

// result is what workbench_open_toolbox answers.
type result struct {
	Toolbox     string            `json:"toolbox"`
	Description string            `json:"description"`
	Connected   int               `json:"servers_connected"`
	HowToCall   string            `json:"how_to_call,omitempty"`
	NotFound    []string          `json:"not_found,omitempty"`    // what was asked for and is not there
	DidYouMean  []string          `json:"did_you_mean,omitempty"` // tools or servers with names like those
	Servers     []serverResult    `json:"servers"`
	Tools       []json.RawMessage `json:"tools"` // those of which more than the name is told
	Skills      []skillResult     `json:"skills,omitempty"`
	SkillsMore  int               `json:"skills_left_out,omitempty"`
}

type serverResult struct {
	Name  string        `json:"name"`
	State toolbox.State `json:"state"`
	Tools int           `json:"tools"`
	// Names are the tools of which no more is told than the name.
	Names []string `json:"tool_names,omitempty"`
	// ToolsSeen is when they were seen, if that was in another run.
	ToolsSeen string   `json:"tools_seen,omitempty"`
	Error     string   `json:"error,omitempty"`
	Notes     []string `json:"notes,omitempty"`
}

// question is what the arguments of workbench_open_toolbox ask for.
type question struct {
	toolbox string
	detail  detail   // counted: as much as the budget allows
	tools   []string // of which tools; nil: of all
}

// opened makes the result of an open: the same content as text of many lines and as structured content, of which
// clients show their models one or the other. It is an error only if no server at all could be started: one that was ready
// and has stopped since because nobody used it is started by the next call.
func opened(sh *shelf.Shelf, habit habits.Habit, b *shelf.Box, q question, to *terms) []byte {
	exposed := sh.HandBox(b.Name)
	r := result{Toolbox: b.Name, Description: meta.Describe(b.Description()), Servers: []serverResult{}, Tools: []json.RawMessage{}}
	startable, example := 0, ""
	var offers []*offer
	asked := selection{patterns: q.tools}
	for _, srv := range b.Servers() {
		st := srv.Status()
		switch st.State {
		case toolbox.Ready:
			r.Connected++
		case toolbox.Starting, toolbox.Installing, toolbox.Stopped:
			startable++
		}
		r.Servers = append(r.Servers, describeServer(srv, st))
		items := srv.Items(toolbox.Tools)
		if len(items) > 0 && example == "" {
			example = exposed[naming.Identity{Server: srv, Key: items[0].Key.Verbatim()}]
		}
		offers = append(offers, &offer{server: srv.Name, tools: asked.of(items, exposed), all: len(items), exposed: exposed, detail: q.detail, stubs: sh.View().HasMeta(meta.ScriptTool)})
	}
	r.NotFound, r.DidYouMean = asked.missed(b)
	r.audit(b, sh.Opened())
	if example != "" {
		r.HowToCall = howToCall(sh, habit, b, to.ListsMayChange(), example) + inScript(sh.View(), b.Name)
	}
	budget := sh.View().Cfg.OpenBudget * tokencount.BytesPerToken
	r.shorten(budget / 2)
	if q.tools == nil {
		r.tellSkills(skillLines(sh, b, to), budget/skillShare)
	}
	if q.detail == counted {
		room := size{budget - len(r.head()) - len(howToSeeMore), budget*3/2 - len(wire.MustEncode(r)) - len(howToSeeMore)}
		fill(offers, room)
	}
	if slices.ContainsFunc(offers, func(o *offer) bool { return len(o.tools) > 0 && o.detail < defined }) {
		r.HowToCall += howToSeeMore
	}
	text := []byte(r.head())
	for i, o := range offers {
		shown, _ := o.render(o.detail, nil)
		text = append(text, shown.text...)
		r.Servers[i].Names = shown.names
		r.Tools = append(r.Tools, shown.tools...)
	}
	out := textResult(to.Era, strings.TrimSuffix(string(text), "\n")).Raw("structuredContent", wire.MustEncode(r))
	if len(r.Servers) > 0 && r.Connected == 0 && startable == 0 {
		out = out.True("isError")
	}
	return out.End()
}

// howToSeeMore says how to learn more of some tools than an open tells.
const howToSeeMore = " To see more of some tools, open the toolbox again with tools (a list of tools, servers or patterns such as *issue*) and, if needed, detail; " + meta.FindTool + " finds tools by what they do."

// mostHints is how many oddities of a server are named.
const mostHints = 3

// audit adds what is odd in what the servers say, beside those of the other open toolboxes. The words of servers are
// not repeated: a model is not to read what is odd about them once more.
func (r *result) audit(b *shelf.Box, open []*shelf.Box) {
	hints := make(map[string]int)
	var beside []*toolbox.Server
	for _, other := range open {
		if other != b {
			beside = append(beside, other.Servers()...)
		}
	}
	for _, h := range toolbox.Audit(b.Servers(), beside...) {
		hints[h.Server]++
		i := slices.IndexFunc(r.Servers, func(s serverResult) bool { return b.Name+"/"+s.Name == h.Server })
		switch n := hints[h.Server]; {
		case i < 0 || n > mostHints+1:
		case n == mostHints+1:
			r.Servers[i].Notes = append(r.Servers[i].Notes, "more of this kind is said by workbench lock --diff "+shellword.Word(b.Name))
		default:
			r.Servers[i].Notes = append(r.Servers[i].Notes, "a person should look at "+h.Place+": "+h.Saw)
		}
	}
}

// shorten keeps the reasons and notes of all servers within a number of bytes, or little more.
func (r *result) shorten(room int) {
	n := 0
	for _, srv := range r.Servers {
		n += len(srv.Notes)
		if srv.Error != "" {
			n++
		}
	}
	most := max(leastTrouble, room/max(n, 1))
	for i := range r.Servers {
		srv := &r.Servers[i]
		srv.Error = cut.At(srv.Error, most)
		for j, note := range srv.Notes {
			srv.Notes[j] = cut.At(note, most)
		}
	}
}

// head is the text before the tools: how to call them, and what is wrong.
func (r *result) head() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Toolbox %s: %s\n", r.Toolbox, r.Description)
	if r.HowToCall != "" {
		fmt.Fprintln(&b, r.HowToCall)
	}
	fmt.Fprintf(&b, "%d of %d servers ready\n", r.Connected, len(r.Servers))
	for _, srv := range r.Servers {
		switch {
		case srv.Error != "":
			fmt.Fprintf(&b, "- %s is %s: %s\n", srv.Name, srv.State, srv.Error)
		case srv.Tools == 0 && srv.State == toolbox.Ready:
			fmt.Fprintf(&b, "- %s offers no tools\n", srv.Name)
		}
	}
	for _, srv := range r.Servers {
		for _, note := range srv.Notes {
			fmt.Fprintf(&b, "- %s: %s\n", srv.Name, note)
		}
	}
	if r.Skills != nil {
		fmt.Fprintln(&b, "Skills, which explain how to do something; read them as resources:")
	}
	for _, k := range r.Skills {
		fmt.Fprintf(&b, "- %s\n", k)
	}
	if r.SkillsMore > 0 {
		fmt.Fprintf(&b, "- and %d more skills, among the resources\n", r.SkillsMore)
	}
	if r.NotFound != nil {
		fmt.Fprintf(&b, "- no tool is %s", strings.Join(foreign.Quoted(r.NotFound), " or "))
		if r.DidYouMean != nil {
			fmt.Fprintf(&b, "; did you mean %s?", strings.Join(foreign.Quoted(r.DidYouMean), ", or "))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// describeServer says where a server stands. One that is starting and was seen before is no trouble: its tools can be
// called, and the calls wait.
func describeServer(srv *toolbox.Server, st toolbox.Status) serverResult {
	one := serverResult{Name: srv.Name, State: st.State, Tools: st.Tools, Notes: srv.Notes()}
	starting := st.State.IsStarting()
	switch {
	case st.State == toolbox.Ready:
	case starting && st.Seen.IsZero():
		one.Error = "still starting, " + st.Explain() + "; open the toolbox again to see its tools"
	case !starting || st.Cause != nil:
		one.Error = st.Explain()
	}
	if !st.Seen.IsZero() {
		one.ToolsSeen = st.Seen.UTC().Format(time.RFC3339)
		note := "its tools are those last seen " + st.LastSeen()
		if starting {
			note = "starting; " + note + ", and calls wait until it is ready"
		}
		one.Notes = append(one.Notes, note)
	}
	return one
}
