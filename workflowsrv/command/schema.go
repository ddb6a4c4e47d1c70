package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/mcp-workbench/workbench/internal/jsontype"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// decode reads JSON as criteria wants it.
func decode(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

// setSchema gives the command its parameters as the schema of an object says them, in the order of the schema. The
// values are judged from then on; the error is that of a schema that no value can be held against.
func (c *Command) setSchema(raw json.RawMessage) error {
	v, err := decode(raw)
	if err != nil {
		return err
	}
	object, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("the schema of the parameters is not an object")
	}
	c.Schema, c.schema = raw, object
	properties, _ := object["properties"].(map[string]any)
	required, _ := object["required"].([]any)
	names := propertyOrder(raw, properties)
	for _, v := range required { // a schema may require what it does not describe
		if name, ok := v.(string); ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		p := Param{Name: name, schema: properties[name], Required: slices.Contains(required, any(name)), Types: jsontype.Of(object, properties[name])}
		if part, ok := p.schema.(map[string]any); ok {
			p.Description, _ = part["description"].(string)
			examples, _ := part["examples"].([]any)
			for _, example := range examples {
				if b, err := json.Marshal(example); err == nil {
					p.Examples = append(p.Examples, b)
				}
			}
		}
		c.Params = append(c.Params, p)
	}
	c.index()
	// MCP says that a schema which names no draft is of 2020-12 (revision 2025-11-25, "JSON Schema usage").
	judged := maps.Clone(object)
	if _, named := judged["$schema"]; !named {
		judged["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	}
	rule := map[string]any{"type": "schema", "schema": judged}
	if c.file != "" { // its author is to know at once; of a tool it may wait
		judge, err := criteria.Parse(rule)
		if err == nil {
			c.judge = func() *criteria.Criteria { return judge }
		}
		return err
	}
	c.judge = sync.OnceValue(func() *criteria.Criteria {
		judge, err := criteria.Parse(rule)
		if err != nil {
			// The server judges the arguments itself; what we cannot read of its schema is no reason not to ask it.
			judge, _ = criteria.Parse(map[string]any{"type": "schema", "schema": map[string]any{}})
		}
		return judge
	})
	return nil
}

// index makes the table of the parameters, which no longer move.
func (c *Command) index() {
	c.byName = make(map[string]*Param, len(c.Params))
	for i := range c.Params {
		c.byName[c.Params[i].Name] = &c.Params[i]
	}
}

// propertyOrder gives the names of the properties in the order in which the schema was written.
func propertyOrder(raw []byte, properties map[string]any) []string {
	var at [1]wire.Span
	whole := wire.Whole(raw)
	if wire.Find(raw, whole, []string{"properties"}, at[:]) != nil || !at[0].Present() {
		return sortedKeys(properties)
	}
	var list []string
	for name := range wire.Members(raw, at[0]) {
		if s, ok := wire.Unquote(raw[name.Start:name.End]); ok && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	if len(list) != len(properties) {
		return sortedKeys(properties)
	}
	return list
}
