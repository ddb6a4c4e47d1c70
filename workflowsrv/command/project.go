package command

import (
	"fmt"
)

// Project makes a workflow of the tools of a toolbox, without any file: each server is a context that is there
// everywhere, each tool a command of it, with the parameters of its input schema and the effect that its annotations
// tell. Entries that have no name are left out.
func Project(toolbox, description string, tools []Tool) *Workflow {
	w := newWorkflow()
	w.Name, w.Description, w.Purpose = toolbox, description, "Use the tools of the toolbox "+toolbox+" as commands"
	w.project(toolbox, tools)
	w.finish()
	return w
}

func (w *Workflow) project(toolbox string, tools []Tool) {
	for _, t := range tools {
		d, ok := t.read()
		if !ok || d.toolbox != toolbox {
			continue
		}
		c := d.command()
		if w.contexts[c.Context] == nil {
			w.contexts[c.Context] = serverContext(c.Context)
		}
		for n := 2; w.commands[c.Name] != nil; n++ { // another tool is spelled like it
			c.Leaf = fmt.Sprintf("%s_%d", spelled(d.name), n)
			c.Name = c.Context + "/" + c.Leaf
		}
		w.commands[c.Name] = c
	}
}

func serverContext(name string) *Context {
	return &Context{Name: name, Description: "The tools of the server " + name}
}
