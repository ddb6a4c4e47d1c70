package config

import (
	"encoding/json"
	"strings"

	"github.com/mcp-workbench/workbench/internal/document"
	"github.com/mcp-workbench/workbench/internal/reshape"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Tool says how one tool of a server is offered. The zero value offers it as the server does.
type Tool struct {
	Name     string             // as the server has it
	Rename   string             `key:"rename"`
	Describe string             `key:"describe"`
	Defaults []reshape.Argument `key:"defaults"` // in the order of the file
	Hide     []string           `key:"hide"`     // parameters that clients neither see nor give
}

// Pin names a tool that is always offered.
type Pin struct{ Toolbox, Server, Tool string }

// String gives the pin as the file has it.
func (p Pin) String() string { return p.Toolbox + "/" + p.Server + "/" + p.Tool }

// maxToolName is the most bytes of the name that a tool is given.
const maxToolName = 128

// readTools reads how the tools of a server are offered.
func readTools(o *object) (tools []Tool) {
	n, path, ok := o.take("tools")
	if !ok {
		return nil
	}
	members, _ := o.c.members(n, path, ignored)
	renamed := make(map[string]bool)
	for _, m := range members {
		at := join(path, m.Key)
		o, ok := o.c.object(m.Value, at)
		if !ok {
			continue
		}
		t := Tool{Name: m.Key, Hide: texts(o.list("hide", false))}
		if v, ok := o.text("rename", false); ok {
			switch {
			case len(v.text) > maxToolName || !IsToolName(v.text):
				o.c.reject(v, "want a name of letters, digits, _, - and .", "")
			case renamed[v.text]:
				o.c.reject(v, "want names that no two tools share", "")
			}
			t.Rename = v.text
			renamed[v.text] = true
		}
		if v, ok := o.text("describe", false); ok {
			t.Describe = v.text
		}
		if n, path, ok := o.take("defaults"); ok {
			values, _ := o.c.members(n, path, func(string) bool { return false })
			for _, v := range values {
				t.Defaults = append(t.Defaults, reshape.Argument{Name: v.Key, Value: o.c.json(v.Value, join(path, v.Key))})
			}
		}
		o.done(func(string) string { return "" })
		tools = append(tools, t)
	}
	return tools
}

// IsToolName reports whether a name has only the characters that the names of tools should have (MCP 2025-11-25, Tool
// Names). The interfaces of models refuse all tools for one that has others.
func IsToolName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return !(r == '_' || r == '-' || r == '.' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z')
	})
}

// json gives a value of the file as JSON, with the variables of its strings put in. It may be a secret.
func (c *checker) json(n *document.Node, path string) json.RawMessage {
	switch n.Kind {
	case document.Text:
		v, _ := c.text(n, path, true)
		return wire.MustEncode(v.text)
	case document.Number:
		return json.RawMessage(n.Value)
	case document.Boolean:
		return wire.MustEncode(n.Value == "true")
	case document.Array:
		items := make([]json.RawMessage, len(n.Items))
		for i, item := range n.Items {
			items[i] = c.json(item, index(path, i))
		}
		return wire.MustEncode(items)
	case document.Object:
		members, _ := c.members(n, path, func(string) bool { return false })
		out := []byte{'{'}
		for _, m := range members {
			out = wire.AppendMember(out, wire.MustEncode(m.Key), c.json(m.Value, join(path, m.Key)))
		}
		return append(out, '}')
	}
	return json.RawMessage("null")
}
