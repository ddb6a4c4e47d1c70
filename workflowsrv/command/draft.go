package command

import (
	"slices"

	"github.com/mcp-workbench/workbench/internal/document"
)

// A draft is a workflow that is being made.
type draft struct {
	w        *Workflow
	sources  []*source
	extended []string        // the toolboxes whose tools are commands
	unknown  map[string]bool // contexts of servers whose tools are not known
	unsound  map[string]bool // contexts whose files have faults of form
	vague    bool            // not all is known of what places there are and what is known of them, because a file has such faults
}

// A source is a file with what was made of it, to be completed when all is read.
type source struct {
	file    string
	doc     *document.Node
	context *Context
	command *Command
}

// loops reports whether following next leads from a context back to it.
func (d *draft) loops(from string, next func(name string) []string) bool {
	seen := map[string]bool{}
	for queue := next(from); len(queue) > 0; queue = queue[1:] {
		name := queue[0]
		if name == from {
			return true
		}
		if d.w.contexts[name] != nil && !seen[name] {
			seen[name] = true
			queue = append(queue, next(name)...)
		}
	}
	return false
}

// learns reports whether some command brings a value of the name to places of a context or of one around it. Where not
// all files are sound it may be so.
func (d *draft) learns(context, name string) bool {
	if d.vague {
		return true
	}
	at := context
	for range len(d.w.contexts) { // a loop of parents is a fault of its own
		if d.w.contexts[at] == nil {
			return false
		}
		if slices.Contains(d.w.contexts[at].Key, name) {
			return true
		}
		for _, c := range d.w.commands {
			if c.enter != nil && d.w.is(c.enter.context.Name, at) &&
				slices.ContainsFunc(c.enter.values, func(m member) bool { return m.name == name }) {
				return true
			}
		}
		at = d.w.contexts[at].Parent
	}
	return false
}

// around reports whether a value of the name can be had where the command runs.
func (d *draft) around(c *Command, name string) bool {
	if context := d.w.contexts[c.Context]; context != nil && !context.group() {
		if d.learns(c.Context, name) {
			return true
		}
		// Contexts that inherit the command may have more.
		return slices.ContainsFunc(sortedKeys(d.w.contexts), func(other string) bool { return d.w.is(other, c.Context) && d.learns(other, name) })
	}
	return slices.ContainsFunc(sortedKeys(d.w.contexts), func(other string) bool { return d.learns(other, name) })
}

// has reports whether a command of the name exists, seen from another one.
func (d *draft) has(from *Command, name string) bool {
	return d.w.commands[name] != nil || slices.Contains(coreNames(), name) || from.Context != "" && d.w.commands[from.Context+"/"+name] != nil
}

// within reports whether places of a context lie in, or are, places of another.
func (d *draft) within(context, outer string) bool {
	for range len(d.w.contexts) {
		if d.w.is(context, outer) {
			return true
		}
		c := d.w.contexts[context]
		if c == nil || c.Parent == "" {
			return false
		}
		context = c.Parent
	}
	return false
}

// together reports whether two commands are there at one place.
func (d *draft) together(a, b *Command) bool {
	return d.w.everywhere(a) || d.w.everywhere(b) || d.within(a.Context, b.Context) || d.within(b.Context, a.Context)
}
