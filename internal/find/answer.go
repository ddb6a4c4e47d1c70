package find

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/signature"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Detail says how much an answer tells of the best entries.
type Detail string

// The details.
const (
	Names      Detail = "names"      // their names
	Signatures Detail = "signatures" // of the best ones the parameters and the first sentence of the description
	Schemas    Detail = "schemas"    // of the best ones the whole input schema
)

// DefaultBudget is how many tokens an answer has where nothing else is said. A token is taken for four bytes.
const DefaultBudget = 500

const (
	tokenBytes  = 4
	bestEntries = 3  // how many are told more of than their names
	bestShare   = .3 // the part of the budget that may go to them
	maxHeading  = 64 // bytes of what is said of a server
	maxSentence = 80 // bytes of what is said of an entry
	loneServers = 5  // servers that were never seen, at most
	leastName   = 4  // bytes of the shortest name that is looked for room for
)

// Options are how an answer is to be. The zero value asks for the names of as many entries as fit the default budget.
type Options struct {
	Detail Detail
	Budget int                     // in tokens; 0 is DefaultBudget
	Limit  int                     // how many entries are named at most; 0 is as many as fit
	Votes  []float32               // others' votes, as SearchVoted takes them
	Stubs  bool                    // signatures declare tools as methods of TypeScript, for scripts
	State  func(server int) string // where a server stands, in a word; may be nil
	// Unknown says why nothing is known of what a server offers, where it is not that it never was opened; may be nil.
	Unknown func(server int) string
}

// Group is what an answer says of one server.
type Group struct {
	Server  int
	Entries []int    // those named, best first; empty for a server that was never seen
	Best    []string // lines that tell more of the first of them
	Names   []string // of the others
}

// Answer is what a searcher is told: servers with the names of their entries, as many as fit a budget, and more of the
// best few. Which servers there are matters more to a model than all that can be said of few of them.
type Answer struct {
	Groups []Group
	Text   string // empty if nothing was found
	Reads  bool   // it tells the uri of an entry that is read
}

// Answer words the answer to a query.
func (x *Index) Answer(query string, o Options) Answer {
	if o.Budget <= 0 {
		o.Budget = DefaultBudget
	}
	a := answering{x: x, Options: o, room: o.Budget * tokenBytes, groups: make([]*group, len(x.servers))}
	found := x.rank(query, o.Votes)
	if o.Detail == Signatures || o.Detail == Schemas {
		a.more(found)
	}
	for i := 0; i < len(found.keys) && !a.isFull(); i++ {
		a.name(found.hit(i))
	}
	return a.answer()
}

// answering is an answer in the making.
type answering struct {
	Options
	x      *Index
	room   int // bytes that are left
	named  int
	reads  bool
	lone   int
	groups []*group // by server; nil are those that were not looked at
	order  []*group // those that are told of
}

// group is what is said of a server, under its heading.
type group struct {
	Group
	heading string
	brief   bool // the heading does not say what the server is
	told    bool
}

// isFull reports whether no entry can be named any more.
func (a *answering) isFull() bool { return a.room < leastName || a.Limit > 0 && a.named == a.Limit }

// more tells more of the best entries, as long as their share lasts.
func (a *answering) more(found ranking) {
	share := int(float64(a.room) * bestShare)
	for i := range min(bestEntries, len(found.keys)) {
		h := found.hit(i)
		if h.Entry < 0 || a.isFull() {
			continue
		}
		e := a.x.told[h.Server].entry(int32(h.Entry))
		line, uris := e.Label(), false
		switch {
		case e.URI != "":
			if uri := foreign.NewName(e.URI).String(); uri == e.URI { // what is cut or cleaned leads nowhere
				line += " " + uri
				uris = true
			}
		case a.Detail == Schemas:
			line += " " + string(foreign.JSON(wire.Compact(nil, e.Schema)))
		case a.Stubs && e.Kind == "":
			line = signature.Member(e.Name) + signature.Stub(e.Schema, e.Output)
		default:
			line += signature.Of(e.Schema)
		}
		if s := signature.Sentence(e.Description, maxSentence); s != "" {
			line += " – " + s
		}
		g, cost := a.group(h.Server)
		if cost += len(line) + 3; cost <= share && a.take(g, h.Entry, cost) {
			share -= cost
			g.Best = append(g.Best, line)
			a.reads = a.reads || uris
		}
	}
}

// name adds the name of an entry that is not there yet, if it fits.
func (a *answering) name(h Hit) {
	g, cost := a.group(h.Server)
	if h.Entry < 0 {
		if a.lone++; a.lone <= loneServers {
			a.take(g, -1, cost)
		}
		return
	}
	if slices.Contains(g.Entries, h.Entry) {
		return
	}
	name := a.x.labels[a.x.of[h.Server][0]+int32(h.Entry)]
	if a.take(g, h.Entry, cost+len(name)+2) {
		g.Names = append(g.Names, name)
	}
}

// group gives the group of a server and what it costs if it is new.
func (a *answering) group(server int) (*group, int) {
	g := a.groups[server]
	if brief := len(a.order) >= bestEntries; g == nil || !g.told && brief && !g.brief {
		g = &group{Group: Group{Server: server}, heading: a.heading(server, brief), brief: brief}
		a.groups[server] = g
	}
	if g.told {
		return g, 0
	}
	return g, len(g.heading) + 2
}

// take adds an entry to a group for what it costs, and reports whether it fits.
func (a *answering) take(g *group, entry, cost int) bool {
	if cost > a.room {
		return false
	}
	a.room -= cost
	if !g.told {
		g.told = true
		a.order = append(a.order, g)
	}
	if entry >= 0 {
		a.named++
		g.Entries = append(g.Entries, entry)
	}
	return true
}

// heading names a server and says how it stands, and unless it is to be brief, what it is.
func (a *answering) heading(server int, brief bool) string {
	s := a.x.servers[server]
	text := s.Name
	if s.Toolbox != "" {
		text = s.Toolbox + "/" + s.Name
	}
	if a.State != nil {
		text += " (" + a.State(server) + ")"
	}
	if brief {
		return text
	}
	if about := signature.Sentence(s.Description, maxHeading); about != "" {
		text += " – " + about
	}
	return text
}

func (a *answering) answer() Answer {
	var out Answer
	var b strings.Builder
	for _, g := range a.order {
		out.Groups = append(out.Groups, g.Group)
		b.WriteString(g.heading)
		switch names := strings.Join(g.Names, ", "); {
		case len(g.Best) > 0:
			b.WriteByte('\n')
			for _, line := range g.Best {
				fmt.Fprintf(&b, "  %s\n", line)
			}
			if names != "" {
				fmt.Fprintf(&b, "  %s\n", names)
			}
		case names != "":
			fmt.Fprintf(&b, ": %s\n", names)
		default:
			why := ""
			if a.Unknown != nil {
				why = a.Unknown(g.Server)
			}
			fmt.Fprintf(&b, ": %s\n", cmp.Or(why, "its tools are not known until it has been opened once"))
		}
	}
	out.Text, out.Reads = b.String(), a.reads
	return out
}
