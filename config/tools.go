package config

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/reshape"
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
		at := join(path, m.key)
		o, ok := o.c.object(m.value, at)
		if !ok {
			continue
		}
		t := Tool{Name: m.key, Hide: texts(o.list("hide", false))}
		if v, ok := o.text("rename", false); ok {
			switch {
			case v.text == "" || len(v.text) > maxToolName || strings.ContainsFunc(v.text, unlikeName):
				o.c.reject(v, "want a name of letters, digits, _, - and .", "")
			case renamed[v.text]:
				o.c.reject(v, "want names that are one tool's alone", "")
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
				t.Defaults = append(t.Defaults, reshape.Argument{Name: v.key, Value: o.c.json(v.value, join(path, v.key))})
			}
		}
		o.done(func(string) string { return "" })
		tools = append(tools, t)
	}
	return tools
}

func unlikeName(r rune) bool {
	return !(r == '_' || r == '-' || r == '.' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z')
}

// json gives a value of the file as JSON, with the variables of its strings put in. It may be a secret.
func (c *checker) json(n *node, path string) json.RawMessage {
	switch n.kind {
	case kindString:
		v, _ := c.text(n, path, true)
		return encodeValue(v.text)
	case kindNumber:
		switch {
		case json.Valid([]byte(n.text)):
			return json.RawMessage(n.text)
		case math.IsNaN(n.number) || math.IsInf(n.number, 0):
			c.fault(n.at, path, "want a value that JSON has, got "+n.got(true), "")
			return json.RawMessage("null")
		}
		return encodeValue(n.number)
	case kindBool:
		return encodeValue(n.text == "true")
	case kindArray:
		items := make([]json.RawMessage, len(n.items))
		for i, item := range n.items {
			items[i] = c.json(item, index(path, i))
		}
		return encodeValue(items)
	case kindObject:
		members, _ := c.members(n, path, func(string) bool { return false })
		out := []byte{'{'}
		for i, m := range members {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(append(append(out, encodeValue(m.key)...), ':'), c.json(m.value, join(path, m.key))...)
		}
		return append(out, '}')
	}
	return json.RawMessage("null")
}

func encodeValue(v any) json.RawMessage {
	out, err := json.Marshal(v)
	if err != nil {
		panic("config: a value of a file cannot be encoded: " + err.Error())
	}
	return out
}

// readPins reads which tools are always offered. Their toolboxes and servers are those of the file.
func readPins(o *object, cfg *Config) {
	for _, v := range o.list("pin", false) {
		parts := strings.SplitN(v.text, "/", 3)
		if len(parts) < 3 || parts[2] == "" {
			o.c.reject(v, "want TOOLBOX/SERVER/TOOL", "")
			continue
		}
		p := Pin{parts[0], parts[1], parts[2]}
		box, ok := cfg.Toolbox(p.Toolbox)
		if !ok {
			var names []string
			for _, t := range cfg.Toolboxes {
				names = append(names, t.Name)
			}
			o.c.reject(v, "want a toolbox of this file before the first /", didYouMean(p.Toolbox, names))
			continue
		}
		var names []string
		for i := range box.Servers {
			names = append(names, box.Servers[i].Name)
		}
		if !slices.Contains(names, p.Server) {
			o.c.reject(v, "want a server of toolbox "+quote(p.Toolbox)+" before the second /", didYouMean(p.Server, names))
			continue
		}
		cfg.Pinned = append(cfg.Pinned, p)
	}
}
