package command

import (
	"cmp"
	"encoding/json"
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

// read takes apart what a workflow needs of a tool; ok is false for an entry without a name.
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

// A toolset is the tools that bindings are checked against, as far as they are known.
type toolset struct {
	all      []Tool                     // nil: none is known
	defined  map[[3]string]*definedTool // by toolbox, server and name
	unlisted []string                   // see LoadOptions
}

func newToolset(tools []Tool, unlisted []string) *toolset {
	t := &toolset{tools, map[[3]string]*definedTool{}, unlisted}
	for _, tool := range tools {
		if d, ok := tool.read(); ok {
			t.defined[[3]string{d.toolbox, d.server, d.name}] = d
		}
	}
	return t
}

func (t *toolset) known() bool { return t.all != nil }

// find gives the tool that a binding names, nil if it is not known.
func (t *toolset) find(b *ToolCall) *definedTool {
	return t.defined[[3]string{b.Toolbox, b.Server, b.Tool}]
}

// explain words why there is no such tool.
func (t *toolset) explain(b *ToolCall) string {
	var boxes, servers, tools []string
	for _, name := range t.unlisted {
		box, server, _ := strings.Cut(name, "/")
		boxes = append(boxes, box)
		if box == b.Toolbox {
			servers = append(servers, server)
		}
	}
	for _, d := range t.defined {
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

// incomplete reports whether the workflow extends a toolbox of which not all tools are known.
func (t *toolset) incomplete(extended []string) bool {
	return slices.ContainsFunc(extended, func(box string) bool {
		return !t.known() || slices.ContainsFunc(t.unlisted, func(name string) bool { return strings.HasPrefix(name, box+"/") })
	})
}

// mayServe reports whether a context may be a server that the workflow extends and whose tools are not known.
func (t *toolset) mayServe(context string, extended []string) bool {
	return context != "" && slices.ContainsFunc(extended, func(box string) bool {
		return !t.known() || slices.ContainsFunc(t.unlisted, func(name string) bool {
			server, ok := strings.CutPrefix(name, box+"/")
			return ok && spelled(server) == context
		})
	})
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
