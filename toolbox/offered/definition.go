package offered

import (
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// mended gives the definition of a tool as the protocol has it, and reports whether it differs from what the server
// gave. Clients that check a list refuse all of it, the tools of other servers too, for one member that is not what it
// should be. Such a member is left out; an input schema that is none becomes that of any arguments; and the schemas
// true and false of a property, which not every revision has, become the objects that say the same.
func mended(raw []byte) ([]byte, bool) {
	whole := wire.Whole(raw)
	out, changed, takes := []byte{'{'}, false, false
	for key, val := range wire.Members(raw, whole) {
		name, _ := wire.Unquote(raw[key.Start:key.End])
		value, ok := raw[val.Start:val.End], true
		switch name {
		case "title", "description":
			ok = value[0] == '"'
		case "inputSchema", "outputSchema":
			if value, ok = mendedSchema(raw, val); !ok && name == "inputSchema" {
				value, ok, changed = []byte(`{"type":"object"}`), true, true
			}
			takes = takes || name == "inputSchema"
			changed = changed || len(value) != val.End-val.Start
		case "annotations":
			ok = isObject(value) && each(raw, val, func(key string, v []byte) bool {
				if key == "title" {
					return v[0] == '"'
				}
				return !strings.HasSuffix(key, "Hint") || v[0] == 't' || v[0] == 'f'
			})
		case "execution":
			ok = isObject(value) && each(raw, val, func(key string, v []byte) bool {
				return key != "taskSupport" || slices.Contains([]string{`"required"`, `"optional"`, `"forbidden"`}, string(v))
			})
		case "icons":
			ok = value[0] == '['
			for icon := range wire.Elements(raw, val) {
				src, err := wire.FindPath(raw, icon, "src")
				ok = ok && err == nil && src.Present() && raw[src.Start] == '"'
			}
		case "_meta":
			ok = isObject(value)
		}
		if changed = changed || !ok; ok {
			out = appendMember(out, raw[key.Start:key.End], value)
		}
	}
	if !takes {
		out, changed = appendMember(out, []byte(`"inputSchema"`), []byte(`{"type":"object"}`)), true
	}
	if !changed {
		return raw, false
	}
	return append(out, '}'), true
}

// mendedSchema gives the schema at in, which is of an object; there is none if it is not.
func mendedSchema(raw []byte, in wire.Span) ([]byte, bool) {
	var at [3]wire.Span
	if wire.Find(raw, in, []string{"type", "properties", "required"}, at[:]) != nil ||
		!at[0].Present() || string(raw[at[0].Start:at[0].End]) != `"object"` {
		return nil, false
	}
	var edits []wire.Edit
	if props := at[1]; props.Present() {
		if raw[props.Start] != '{' {
			return nil, false
		}
		for _, val := range wire.Members(raw, props) {
			switch raw[val.Start] {
			case '{':
			case 't':
				edits = append(edits, wire.Edit{Span: shift(val, in), New: []byte(`{}`)})
			case 'f':
				edits = append(edits, wire.Edit{Span: shift(val, in), New: []byte(`{"not":{}}`)})
			default:
				return nil, false
			}
		}
	}
	if at[2].Present() && raw[at[2].Start] != '[' {
		return nil, false
	}
	for name := range wire.Elements(raw, at[2]) {
		if raw[name.Start] != '"' {
			return nil, false
		}
	}
	schema := raw[in.Start:in.End]
	if edits == nil {
		return schema, true
	}
	return wire.Splice(nil, schema, edits...), true
}

func shift(s, from wire.Span) wire.Span {
	return wire.Span{Start: s.Start - from.Start, End: s.End - from.Start}
}

func isObject(value []byte) bool { return value[0] == '{' }

// each reports whether all members of an object are as they should be.
func each(raw []byte, in wire.Span, good func(key string, val []byte) bool) bool {
	for key, val := range wire.Members(raw, in) {
		if name, _ := wire.Unquote(raw[key.Start:key.End]); !good(name, raw[val.Start:val.End]) {
			return false
		}
	}
	return true
}

func appendMember(object, key, value []byte) []byte {
	if len(object) > 1 {
		object = append(object, ',')
	}
	return append(append(append(object, key...), ':'), value...)
}
