package command

import (
	"context"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/document"
)

// A checker holds what was read against itself and against the tools.
type checker struct {
	*findings
	*draft
	tools     *toolset
	lookupEnv func(name string) (string, bool)
	lookPath  func(program string) (string, error)
}

// resolve checks what needs all files: references between them, and bindings against the tools where those are known.
func (l *checker) resolve() {
	for _, s := range l.sources {
		switch {
		case s.context != nil:
			l.checkContext(s)
		case s.command != nil:
			l.checkCommand(s)
		default:
			l.checkStartup(s)
		}
	}
}

func (l *checker) checkContext(s *source) {
	known := sortedKeys(l.w.contexts)
	c := s.context
	if parent := s.doc.Get("parent"); parent != nil {
		switch p := l.w.contexts[c.Parent]; {
		case p == nil:
			l.fault(s.file, parent, "/parent", "there is no context %q%s", c.Parent, document.Faults{}.DidYouMean(c.Parent, known))
		case l.unsound[c.Parent]:
		case p.group():
			l.fault(s.file, parent, "/parent", "the context %q has no key, so nothing can lie in it", c.Parent)
		case l.loops(c.Name, func(name string) []string { return []string{l.w.contexts[name].Parent} }):
			l.fault(s.file, parent, "/parent", "the context lies in itself")
		}
		if c.group() {
			l.fault(s.file, parent, "/parent", "a context without a key has no places that could lie in another")
		}
	}
	for i, base := range c.Bases {
		var n *document.Node
		if said := s.doc.Get("bases"); said != nil {
			n = said.Items[i]
		}
		switch {
		case l.w.contexts[base] == nil:
			l.fault(s.file, n, "/bases", "there is no context %q%s", base, document.Faults{}.DidYouMean(base, known))
		case l.loops(c.Name, func(name string) []string { return l.w.contexts[name].Bases }):
			l.fault(s.file, n, "/bases", "the context is a base of itself")
		}
	}
	for _, name := range c.title.names() {
		if !slices.Contains(c.Key, name) && !l.learns(c.Name, name) {
			l.fault(s.file, s.doc.Get("title"), "/title", "{%s} is neither a key of the context nor a value that a command brings", name)
		}
	}
}

func (l *checker) checkCommand(s *source) {
	c := s.command
	for i := range c.Params {
		p := &c.Params[i]
		n := s.doc.Get("params").Get(p.Name)
		if n == nil {
			continue
		}
		path := "/params" + document.Pointer(p.Name)
		for _, from := range p.AvailableFrom {
			if !l.has(c, from) {
				l.fault(s.file, n.Get("available_from"), path+"/available_from", "there is no command %q%s", from, document.Faults{}.DidYouMean(from, sortedKeys(l.w.commands)))
			}
		}
		if p.FromContext != "" && !l.around(c, p.FromContext) {
			l.fault(s.file, n.Get("from_context"), path+"/from_context", "no place where the command runs has a value %q", p.FromContext)
		}
		if p.Lookup != nil {
			l.checkNames(s, n.Get("lookup"), path+"/lookup/arguments", p.Lookup.Tool.arguments.names(), false)
			l.checkTool(s, &p.Lookup.Tool, n.Get("lookup"), path+"/lookup", nil)
		}
	}
	l.checkTemplates(s)
	l.checkEnter(s)
	if b := c.Bind.Tool; b != nil && s.doc.Get("tool") != nil {
		l.checkTool(s, b, s.doc.Get("tool"), "/tool", c)
	}
}

// checkEnter checks that a command is where the place lies that it leads to.
func (l *checker) checkEnter(s *source) {
	c := s.command
	if c.enter == nil || c.enter.context.Parent == "" {
		return
	}
	parent := c.enter.context.Parent
	if l.w.contexts[parent] == nil || l.unsound[parent] || l.unsound[c.Context] {
		return
	}
	if context := l.w.contexts[c.Context]; context == nil || context.group() || !l.within(c.Context, parent) {
		l.fault(s.file, s.doc.Get("enter"), "/enter", "%s lies in %s: the command belongs in commands/%s", c.enter.context.Name, parent, parent)
	}
}

// checkTemplates looks up every name that a template of the command needs.
func (l *checker) checkTemplates(s *source) {
	for _, f := range s.command.fillings() {
		n := s.doc
		for _, key := range f.at {
			if next := n.Get(key); next != nil {
				n = next
			}
		}
		l.checkNames(s, n, "/"+strings.Join(f.at[:min(2, len(f.at))], "/"), f.names, f.after)
	}
}

// checkNames reports names that stand for nothing. after says that the command has run, so that its outputs are there,
// too.
func (l *checker) checkNames(s *source, n *document.Node, path string, names []string, after bool) {
	c := s.command
	known := append(c.paramNames(), userValue)
	if after {
		known = append(known, textValue)
		for _, out := range c.Outputs {
			known = append(known, out.Name)
		}
	}
	for _, name := range names {
		if name == userValue && s.doc.Get("params").Get(name) == nil && (c.Param(name) != nil || l.around(c, name)) {
			l.warn(s.file, n, path, "here {%s} may be a value of the call or of the place, which is not always who the session is for", name)
		}
		if slices.Contains(known, name) || l.around(c, name) {
			continue
		}
		what := "a parameter"
		if after {
			what = "a parameter, an output"
		}
		l.fault(s.file, n, path, "{%s} is neither %s nor a value of the context%s", name, what, document.Faults{}.DidYouMean(name, known))
	}
}

// checkTool holds a binding against the tool it names, if tools are known. c is the command that passes its parameters
// on, nil for a lookup.
func (l *checker) checkTool(s *source, b *ToolCall, n *document.Node, path string, c *Command) {
	if !l.tools.known() || b.Server == "" || b.Toolbox == "" || slices.Contains(l.tools.unlisted, b.Toolbox+"/"+b.Server) {
		return
	}
	def := l.tools.find(b)
	if def == nil {
		l.fault(s.file, n, path, "%s", l.tools.explain(b))
		return
	}
	target := def.command()
	given := map[string]bool{}
	switch {
	case b.arguments != nil:
		for name := range b.arguments.object {
			given[name] = true
		}
	case c != nil:
		for _, p := range c.Params {
			given[p.Name] = true
		}
	}
	closed := target.schema["additionalProperties"] == false
	for _, name := range sortedKeys(given) {
		if target.Param(name) != nil {
			continue
		}
		note := l.warn
		if closed {
			note = l.fault
		}
		note(s.file, n, path, "the tool %s has no parameter %q%s", b.Tool, name, document.Faults{}.DidYouMean(name, target.paramNames()))
	}
	for _, p := range target.Params {
		if p.Required && !given[p.Name] {
			l.fault(s.file, n, path, "the tool %s needs the parameter %q, which the command does not give", b.Tool, p.Name)
		}
	}
}

// checkStartup holds the first command of a session against the commands.
func (l *checker) checkStartup(s *source) {
	text := l.w.Startup
	if text == "" || len(l.faults) > 0 || l.tools.incomplete(l.extended) {
		return
	}
	n := s.doc.Get("startup")
	name, rest, err := ParseName(text)
	if err != nil {
		l.fault(s.file, n, "/startup", "%v", err)
		return
	}
	c := l.w.commands[name]
	if c == nil || !l.w.everywhere(c) {
		if !slices.Contains(coreNames(), name) {
			l.fault(s.file, n, "/startup", "%q is not a command at the top%s", name, document.Faults{}.DidYouMean(name, sortedKeys(l.w.commands)))
		}
		return
	}
	problem := &Problem{}
	args, err := c.parse(text, rest, problem)
	if err != nil {
		l.fault(s.file, n, "/startup", "%v", err)
		return
	}
	c.complete(args, nil)
	if c.check(context.Background(), args, problem); !problem.empty() {
		l.fault(s.file, n, "/startup", "%s", problem.words(c))
	}
}
