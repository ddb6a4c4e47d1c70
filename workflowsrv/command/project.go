package command

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/document"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// A Tool is a tool as a server of a toolbox defines it.
type Tool struct {
	Toolbox, Server string
	// Raw is the entry of tools/list.
	Raw json.RawMessage
}

// A definedTool is what is read of a Tool.
type definedTool struct {
	toolbox, server, name string
	description           string
	schema                json.RawMessage
	effect                Effect
	destroys              bool           // the server says so
	output                map[string]any // the schema of its result, nil for none
}

// read takes apart what a workflow needs of a tool; ok is false for an entry
// without a name.
func (t Tool) read() (d *definedTool, ok bool) {
	var def struct {
		Name        string          `json:"name"`
		Title       string          `json:"title"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"inputSchema"`
		Output      map[string]any  `json:"outputSchema"`
		Annotations struct {
			Title     string `json:"title"`
			ReadOnly  *bool  `json:"readOnlyHint"`
			OpenWorld *bool  `json:"openWorldHint"`
			Destroys  bool   `json:"destructiveHint"`
		} `json:"annotations"`
	}
	if err := json.Unmarshal(t.Raw, &def); err != nil || def.Name == "" {
		return nil, false
	}
	d = &definedTool{toolbox: t.Toolbox, server: t.Server, name: def.Name, schema: def.InputSchema, effect: Unknown, output: def.Output, destroys: def.Annotations.Destroys}
	d.description = cmp.Or(def.Description, def.Title, def.Annotations.Title)
	switch a := def.Annotations; {
	case a.ReadOnly != nil && *a.ReadOnly:
		d.effect = Read
	case a.ReadOnly != nil && a.OpenWorld != nil && *a.OpenWorld:
		d.effect = External
	case a.ReadOnly != nil:
		d.effect = Write
	}
	if len(d.schema) == 0 || d.schema[0] != '{' {
		d.schema = json.RawMessage(`{"type":"object"}`)
	}
	d.schema = wire.Compact(nil, d.schema)
	return d, true
}

// toolKey is how a tool is found.
func toolKey(toolbox, server, name string) string { return toolbox + "\x00" + server + "\x00" + name }

func indexTools(tools []Tool) map[string]*definedTool {
	if tools == nil {
		return nil
	}
	table := make(map[string]*definedTool, len(tools))
	for _, t := range tools {
		if d, ok := t.read(); ok {
			table[toolKey(d.toolbox, d.server, d.name)] = d
		}
	}
	return table
}

// Project makes a workflow of the tools of a toolbox, without any file: each
// server is a context that is there everywhere, each tool a command of it, with
// the parameters of its input schema and the effect that its annotations tell.
// Entries that have no name are left out.
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

// command makes the command that calls the tool.
func (d *definedTool) command() *Command {
	context, leaf := spelled(d.server), spelled(d.name)
	c := &Command{Name: context + "/" + leaf, Context: context, Leaf: leaf, Description: d.description, Effect: d.effect,
		Bind: Binding{Tool: &ToolCall{Toolbox: d.toolbox, Server: d.server, Tool: d.name}}}
	if c.setSchema(d.schema) != nil {
		c.index() // a schema that is no JSON: the command has no parameters
	}
	return c
}

// spelled is a name as a command string can have it.
func spelled(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(space+"<>&()", r) {
			return '_'
		}
		return r
	}, name)
}

// project puts the tools of a toolbox under what the folder says.
func (l *loader) project(file, toolbox string, n *document.Node) {
	if l.tools == nil {
		return
	}
	before := len(l.w.commands)
	l.w.project(toolbox, l.opts.Tools)
	if len(l.w.commands) > before || l.incomplete() {
		return
	}
	var boxes []string
	for _, name := range l.opts.Unlisted {
		box, _, _ := strings.Cut(name, "/")
		boxes = append(boxes, box)
	}
	for _, t := range l.opts.Tools {
		boxes = append(boxes, t.Toolbox)
	}
	slices.Sort(boxes)
	l.fault(file, n, "/extends", "the toolbox %q has no tools%s", toolbox, document.Faults{}.DidYouMean(toolbox, slices.Compact(boxes)))
}

// incomplete reports whether the workflow extends a toolbox of which not all
// tools are known.
func (l *loader) incomplete() bool {
	return slices.ContainsFunc(l.extended, func(box string) bool {
		return l.tools == nil || slices.ContainsFunc(l.opts.Unlisted, func(name string) bool { return strings.HasPrefix(name, box+"/") })
	})
}

// unlisted reports whether a context may be a server that the workflow extends
// and whose tools are not known.
func (l *loader) unlisted(context string) bool {
	return context != "" && slices.ContainsFunc(l.extended, func(box string) bool {
		return l.tools == nil || slices.ContainsFunc(l.opts.Unlisted, func(name string) bool {
			server, ok := strings.CutPrefix(name, box+"/")
			return ok && spelled(server) == context
		})
	})
}
