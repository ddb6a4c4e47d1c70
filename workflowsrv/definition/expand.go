package definition

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/document"
)

// templatePrefix begins the name by which a step calls a routine: what follows it is the id of the workflow without its
// routinePrefix.
const (
	templatePrefix = "wr.templates.routine."
	routinePrefix  = "routine-"
)

// Routines are the workflows whose steps other workflows take over, by the name under which a templateCall knows them.
type Routines map[string]Routine

// A Routine is a workflow with the place of its file.
type Routine struct {
	*Workflow
	File string
}

// CallsRoutines reports whether the content of a file may call routines, which is then to be read with them.
func CallsRoutines(data []byte) bool { return bytes.Contains(data, []byte("templateCall")) }

// Add adds a workflow, if its id is that of a routine.
func (r Routines) Add(w *Workflow, file string) {
	if w.routine == nil {
		return
	}
	_, name, _ := strings.Cut(w.ID, routinePrefix)
	r[templatePrefix+name] = Routine{w, file}
}

// isRoutine reports whether an id is that of a routine: routine-NAME, also behind a namespace.
func isRoutine(id string) bool {
	return strings.HasPrefix(id[strings.IndexByte(id, '.')+1:], routinePrefix)
}

// argument is what a routine has in place of a value that its caller gives.
var argument = regexp.MustCompile(`\{\{[^{}]*\}\}|\{([A-Za-z_]\w*)\}`)

// expanded gives the steps that the step at n stands for: itself, unless it calls a routine.
func (b *builder) expanded(n *document.Node, path string) []*document.Node {
	call := n.Get("templateCall")
	if call == nil || n.Get("prompt") != nil || n.Get("promptBlocks") != nil {
		return []*document.Node{n}
	}
	path += "/templateCall"
	id := call.Str("templateId")
	routine, ok := b.routines[id]
	if !ok {
		b.faults.Add(call.Get("templateId"), path+"/templateId", "there is no routine for the template %q, which is a valid workflow with the id %s and plain steps only%s",
			id, routinePrefix+strings.TrimPrefix(id, templatePrefix), b.faults.DidYouMean(id, names(b.routines)))
		return nil
	}
	if !slices.ContainsFunc(b.called, func(r Routine) bool { return r.ID == routine.ID }) {
		b.called = append(b.called, routine)
	}
	args := map[string]*document.Node{}
	for _, m := range members(call.Get("args")) {
		args[m.Key] = m.Value
		if m.Value.Kind == document.Array || m.Value.Kind == document.Object {
			b.faults.Add(m.Value, path+document.Pointer("args", m.Key), "must be a text, a number or a boolean: it is put into texts")
		}
	}
	e := expansion{b: b, call: call, path: path, args: args}
	var list []*document.Node
	for _, step := range items(routine.routine.Get("steps")) {
		if step.Get("templateCall") != nil || step.Str("type") != "" {
			b.faults.Add(call, path, "the routine %s has the step %q, which is a call or a loop itself; only plain steps can be taken over",
				routine.ID, step.Str("id"))
			return nil
		}
		list = append(list, e.step(n, step, routine))
	}
	for _, step := range list {
		b.from[step] = Taken{routine.ID, routine.File}
	}
	return list
}

// pinned gives the workflow with the routines that it calls.
func pinned(w *Workflow, called []Routine) []byte {
	if len(called) == 0 {
		return w.JSON
	}
	list := append([]byte("["), w.JSON...)
	for _, r := range called {
		list = append(append(list, ','), r.JSON...)
	}
	return append(list, ']')
}

// An expansion is one call of a routine.
type expansion struct {
	b      *builder
	call   *document.Node
	path   string
	args   map[string]*document.Node
	wanted []string
}

// step gives a step of the routine as its caller has it: with arguments in their places, under an id of its own, and
// under the conditions of the caller. Its place in the file is that of the call.
func (e *expansion) step(caller, step *document.Node, routine Routine) *document.Node {
	n := e.copied(step)
	id := caller.Str("id") + "." + step.Str("id")
	const most = 64
	if len(id) > most {
		e.b.faults.Add(e.call, e.path, "the id %q of the step taken over has %d characters, at most %d are allowed; give the call a shorter id", id, len(id), most)
	}
	set(n, "id", e.text(id))
	if rules := routine.MetaGuidance; len(rules) > 0 {
		guidance := e.copied(&document.Node{Kind: document.Array})
		for _, text := range rules {
			guidance.Items = append(guidance.Items, e.text(e.filled(text)))
		}
		guidance.Items = append(guidance.Items, items(n.Get("guidance"))...)
		set(n, "guidance", guidance)
	}
	if outer := caller.Get("runCondition"); outer != nil {
		if inner := n.Get("runCondition"); inner != nil {
			both := &document.Node{Kind: document.Array, Items: []*document.Node{outer, inner}}
			outer = &document.Node{Kind: document.Object, Members: []document.Member{{Key: "and", Value: both}}}
		}
		set(n, "runCondition", outer)
	}
	for _, key := range []string{"requireConfirmation", "modelTier", "notesOptional"} {
		if own := caller.Get(key); own != nil && n.Get(key) == nil {
			set(n, key, own)
		}
	}
	return n
}

// set gives a node that is being made a member.
func set(n *document.Node, key string, v *document.Node) {
	i := slices.IndexFunc(n.Members, func(m document.Member) bool { return m.Key == key })
	if i < 0 {
		n.Members = append(n.Members, document.Member{Key: key, Line: v.Line, Column: v.Column, Value: v})
		return
	}
	n.Members[i].Value = v
}

func (e *expansion) text(s string) *document.Node {
	return &document.Node{Kind: document.Text, Value: s, Line: e.call.Line, Column: e.call.Column}
}

// copied copies a node with all below it.
func (e *expansion) copied(n *document.Node) *document.Node {
	c := &document.Node{Kind: n.Kind, Value: n.Value, Line: e.call.Line, Column: e.call.Column}
	if n.Kind == document.Text {
		c.Value = e.filled(n.Value)
	}
	for _, item := range n.Items {
		c.Items = append(c.Items, e.copied(item))
	}
	for _, m := range n.Members {
		c.Members = append(c.Members, document.Member{Key: m.Key, Line: e.call.Line, Column: e.call.Column, Value: e.copied(m.Value)})
	}
	return c
}

// filled puts the arguments in the places of a text.
func (e *expansion) filled(text string) string {
	return argument.ReplaceAllStringFunc(text, func(place string) string {
		name := argument.FindStringSubmatch(place)[1]
		if name == "" {
			return place // a variable of the context
		}
		if !slices.Contains(e.wanted, name) {
			e.wanted = append(e.wanted, name)
			if e.args[name] == nil {
				e.b.faults.Add(e.call, e.path, "the routine needs the argument %q", name)
			}
		}
		if v := e.args[name]; v != nil {
			return v.Value
		}
		return place
	})
}
