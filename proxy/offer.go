package proxy

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mcp-workbench/workbench/internal/signature"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/naming"
	"github.com/mcp-workbench/workbench/toolbox"
)

// offer is what is told of the tools of one server.
type offer struct {
	server  string
	tools   []toolbox.Item // those that were asked for
	all     int            // how many the server has
	exposed map[naming.Identity]string
	detail  detail
	stubs   bool // signatures declare the tools as methods of TypeScript, for scripts
	cost    size
}

// rendering is an offer in words and as data.
type rendering struct {
	text  []byte
	names []string          // of the tools of which that is all
	tools []json.RawMessage // the others
}

// size is a number of bytes of text and of structured content.
type size struct{ text, structured int }

func (a size) plus(b size) size  { return size{a.text + b.text, a.structured + b.structured} }
func (a size) minus(b size) size { return size{a.text - b.text, a.structured - b.structured} }
func (a size) negative() bool    { return a.text < 0 || a.structured < 0 }

// fill gives each server as much detail as fits: the next step for all of them before the one after it for any, and
// where it costs least first. Definitions are told of all tools or of none.
func fill(offers []*offer, room size) {
	left := room
	for _, o := range offers {
		_, cost := o.render(defined, &left)
		if left = left.minus(cost); left.negative() {
			break
		}
	}
	if !left.negative() {
		for _, o := range offers {
			o.detail = defined
		}
		return
	}
	left = room
	for _, o := range offers {
		_, o.cost = o.render(counted, nil)
		left = left.minus(o.cost)
	}
	for d := named; d <= summarised; d++ {
		// What costs least comes first.
		type step struct {
			*offer
			cost size
		}
		var steps []step
		for _, o := range offers {
			if free := left.plus(o.cost); o.detail == d-1 {
				_, cost := o.render(d, &free)
				steps = append(steps, step{o, cost})
			}
		}
		slices.SortStableFunc(steps, func(a, b step) int { return a.cost.text - b.cost.text })
		for _, s := range steps {
			if after := left.plus(s.offer.cost).minus(s.cost); !after.negative() {
				s.offer.detail, s.offer.cost, left = d, s.cost, after
			}
		}
	}
}

// render tells of the tools in so much detail. It stops when that does not fit into room, unless room is nil.
func (o *offer) render(d detail, room *size) (r rendering, cost size) {
	if len(o.tools) == 0 {
		return r, cost
	}
	count := fmt.Sprint(len(o.tools))
	if len(o.tools) < o.all {
		count += fmt.Sprintf(" of %d", o.all)
	}
	r.text = fmt.Appendf(nil, "\n%s, tools: %s", o.server, count)
	switch d {
	case counted:
		r.text = append(r.text, " (too many to name here)\n"...)
		return r, size{text: len(r.text)}
	case named:
		r.text = append(r.text, " (names alone)"...)
		cost.structured = len(`,"tool_names":[]`)
	}
	r.text = append(r.text, '\n')
	for i := range o.tools {
		it := &o.tools[i]
		r.text = append(o.toolLine(r.text, it, d), '\n')
		if d == named {
			r.names = append(r.names, it.Key.Verbatim())
			cost.structured += len(it.Key.Verbatim()) + len(`"",`)
		} else {
			data := o.describeTool(it, d)
			r.tools = append(r.tools, data)
			cost.structured += len(data) + len(",")
		}
		cost.text = len(r.text)
		if room != nil && room.minus(cost).negative() {
			break
		}
	}
	return r, cost
}

// toolLine appends what the text of an open says of a tool: a line, and of a definition another one.
func (o *offer) toolLine(out []byte, it *toolbox.Item, d detail) []byte {
	name := signature.Name
	if o.stubs {
		name = signature.Member
	}
	out = append(out, name(it.Key.Verbatim())...)
	if d == named {
		return out
	}
	parts := definition(it)
	out = append(out, o.signature(parts)...)
	switch text, _ := wire.Unquote(parts[description]); d {
	case summarised:
		if text = signature.Sentence(text, maxSummary); text != "" {
			out = append(append(out, " – "...), text...)
		}
	case defined:
		if members := appendDefinition(nil, parts); members != nil {
			out = append(append(append(out, "\n  {"...), members[1:]...), '}')
		}
	}
	return out
}

// describeTool gives what structured content says of a tool.
func (o *offer) describeTool(it *toolbox.Item, d detail) json.RawMessage {
	out := wire.NewObject(nil).Text("name", it.Key.Verbatim()).Text("server", it.Server.Name).Text("toolbox", it.Server.Toolbox)
	out = out.Text("exposed_name", o.exposed[naming.Identity{Server: it.Server, Key: it.Key.Verbatim()}])
	parts := definition(it)
	if d == defined {
		return append(appendDefinition(out, parts), '}')
	}
	out = out.Text("signature", o.signature(parts))
	if text, _ := wire.Unquote(parts[description]); d == summarised && text != "" {
		out = out.Text("summary", signature.Sentence(text, maxSummary))
	}
	return out.End()
}

// signature gives the parameters of a tool, and for scripts what it gives.
func (o *offer) signature(parts [4][]byte) string {
	if o.stubs {
		return signature.Stub(parts[inputSchema], parts[outputSchema])
	}
	return signature.Of(parts[inputSchema])
}

// The parts of a tool's definition that a model needs.
const (
	description = iota
	inputSchema
	outputSchema
	annotations
)

func definitionParts() []string {
	return []string{"description", "inputSchema", "outputSchema", "annotations"}
}

// definition gives the parts as the server wrote them; nil are those that are not there.
func definition(it *toolbox.Item) (parts [4][]byte) {
	var at [4]wire.Span
	if wire.Find(it.Raw, wire.Whole(it.Raw), definitionParts(), at[:]) != nil {
		return parts
	}
	for i, p := range at {
		if p.Present() {
			parts[i] = it.Raw[p.Start:p.End]
		}
	}
	return parts
}

// appendDefinition appends the parts as members, each after a comma.
func appendDefinition(out []byte, parts [4][]byte) []byte {
	for i, name := range definitionParts() {
		if parts[i] != nil {
			out = wire.Compact(append(out, `,"`+name+`":`...), parts[i])
		}
	}
	return out
}
