package command

import (
	"context"
	"net"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/document"
)

// resolve checks what needs all files: references between them, and bindings
// against the tools where those are known.
func (l *loader) resolve() {
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

func (l *loader) checkContext(s *source) {
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
			l.fault(s.file, parent, "/parent", "a context without a key has no places, which could lie in another")
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

// loops reports whether following next leads from a context back to it.
func (l *loader) loops(from string, next func(name string) []string) bool {
	seen := map[string]bool{}
	for queue := next(from); len(queue) > 0; queue = queue[1:] {
		name := queue[0]
		if name == from {
			return true
		}
		if l.w.contexts[name] != nil && !seen[name] {
			seen[name] = true
			queue = append(queue, next(name)...)
		}
	}
	return false
}

// learns reports whether some command brings a value of the name to places of
// a context or of one around it. Where not all files are sound it may be so.
func (l *loader) learns(context, name string) bool {
	if l.vague {
		return true
	}
	at := context
	for range len(l.w.contexts) { // a loop of parents is a fault of its own
		if l.w.contexts[at] == nil {
			return false
		}
		if slices.Contains(l.w.contexts[at].Key, name) {
			return true
		}
		for _, c := range l.w.commands {
			if c.enter != nil && l.w.is(c.enter.context.Name, at) &&
				slices.ContainsFunc(c.enter.values, func(m member) bool { return m.name == name }) {
				return true
			}
		}
		at = l.w.contexts[at].Parent
	}
	return false
}

// around reports whether a value of the name can be had where the command runs.
func (l *loader) around(c *Command, name string) bool {
	if context := l.w.contexts[c.Context]; context != nil && !context.group() {
		if l.learns(c.Context, name) {
			return true
		}
		// Those that inherit the command may have more.
		return slices.ContainsFunc(sortedKeys(l.w.contexts), func(other string) bool { return l.w.is(other, c.Context) && l.learns(other, name) })
	}
	return slices.ContainsFunc(sortedKeys(l.w.contexts), func(other string) bool { return l.learns(other, name) })
}

func (l *loader) checkCommand(s *source) {
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
func (l *loader) checkEnter(s *source) {
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

// has reports whether a command of the name exists, seen from another one.
func (l *loader) has(from *Command, name string) bool {
	return l.w.commands[name] != nil || slices.Contains(coreNames(), name) || from.Context != "" && l.w.commands[from.Context+"/"+name] != nil
}

// within reports whether places of a context lie in, or are, places of another.
func (l *loader) within(context, outer string) bool {
	for range len(l.w.contexts) {
		if l.w.is(context, outer) {
			return true
		}
		c := l.w.contexts[context]
		if c == nil || c.Parent == "" {
			return false
		}
		context = c.Parent
	}
	return false
}

// checkTemplates looks up every name that a template of the command needs.
func (l *loader) checkTemplates(s *source) {
	c := s.command
	at := func(keys ...string) *document.Node {
		n := s.doc
		for _, key := range keys {
			if next := n.Get(key); next != nil {
				n = next
			}
		}
		return n
	}
	if b := c.Bind.Tool; b != nil {
		l.checkNames(s, at("tool", "arguments"), "/tool/arguments", b.arguments.names(), false)
	}
	if b := c.Bind.HTTP; b != nil {
		l.checkNames(s, at("http", "url"), "/http/url", b.url.names(), false)
		for _, m := range b.header {
			l.checkNames(s, at("http", "headers", m.name), "/http/headers", m.text.names(), false)
		}
		l.checkNames(s, at("http", "body"), "/http/body", b.body.names(), false)
	}
	if b := c.Bind.Process; b != nil {
		for _, t := range b.argv {
			l.checkNames(s, at("process", "argv"), "/process/argv", t.names(), false)
		}
		for _, m := range b.env {
			l.checkNames(s, at("process", "env", m.name), "/process/env", m.text.names(), false)
		}
		l.checkNames(s, at("process", "stdin"), "/process/stdin", b.stdin.names(), false)
	}
	l.checkNames(s, at("reply"), "/reply", c.reply.names(), true)
	if c.enter != nil {
		for _, m := range c.enter.key {
			l.checkNames(s, at("enter", "key", m.name), "/enter/key", m.text.names(), true)
		}
		for _, m := range c.enter.values {
			l.checkNames(s, at("enter", "values", m.name), "/enter/values", m.text.names(), true)
		}
	}
}

// checkNames reports names that stand for nothing. after says that the command
// has run, so that its outputs are there, too.
func (l *loader) checkNames(s *source, n *document.Node, path string, names []string, after bool) {
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

// checkTool holds a binding against the tool it names, if tools are known. c is
// the command that passes its parameters on, nil for a lookup.
func (l *loader) checkTool(s *source, b *ToolCall, n *document.Node, path string, c *Command) {
	if l.tools == nil || b.Server == "" || b.Toolbox == "" || slices.Contains(l.opts.Unlisted, b.Toolbox+"/"+b.Server) {
		return
	}
	def := l.tools[toolKey(b.Toolbox, b.Server, b.Tool)]
	if def == nil {
		l.fault(s.file, n, path, "%s", l.explainTool(b))
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

// explainTool words why there is no such tool.
func (l *loader) explainTool(b *ToolCall) string {
	var boxes, servers, tools []string
	for _, name := range l.opts.Unlisted {
		box, server, _ := strings.Cut(name, "/")
		boxes = append(boxes, box)
		if box == b.Toolbox {
			servers = append(servers, server)
		}
	}
	for _, d := range l.tools {
		boxes = append(boxes, d.toolbox)
		if d.toolbox == b.Toolbox {
			servers = append(servers, d.server)
			if d.server == b.Server {
				tools = append(tools, d.name)
			}
		}
	}
	say := func(text, name string, known []string) string {
		slices.Sort(known)
		return text + document.Faults{}.DidYouMean(name, slices.Compact(known))
	}
	switch {
	case len(servers) == 0:
		return say("there is no toolbox "+b.Toolbox, b.Toolbox, boxes)
	case len(tools) == 0:
		return say("the toolbox "+b.Toolbox+" has no server "+b.Server, b.Server, servers)
	}
	return say("the server "+b.Server+" has no tool "+b.Tool, b.Tool, tools)
}

// checkStartup holds the first command of a session against the commands.
func (l *loader) checkStartup(s *source) {
	text := l.w.Startup
	if text == "" || len(l.faults) > 0 || l.incomplete() {
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
			l.fault(s.file, n, "/startup", "%q is no command that is there at the top%s", name, document.Faults{}.DidYouMean(name, sortedKeys(l.w.commands)))
		}
		return
	}
	tags, err := Parse(text, rest, c.paramNames())
	if err != nil {
		l.fault(s.file, n, "/startup", "%v", err)
		return
	}
	problem := &Problem{}
	args, err := c.read(tags, problem)
	if err != nil {
		l.fault(s.file, n, "/startup", "%v", err)
		return
	}
	c.complete(args, nil)
	if c.check(context.Background(), args, problem); !problem.empty() {
		l.fault(s.file, n, "/startup", "%s", problem.words(c))
	}
}

// Loopback reports whether a host of a URL is this machine.
func Loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
