package offered

import (
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// mended gives the definition of a tool as the protocol has it, and reports whether it differs from what the server
// gave. Clients that check a list refuse all of it, the tools of other servers too, for one member that is not what it
// should be. Such a member is left out, at the depth where it is; of a schema as much is kept as can be; an input schema
// that is none becomes that of any arguments; and the schemas true and false of a property, which not every revision has,
// become the objects that say the same.
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
			takes = takes || name == "inputSchema"
			var edited bool
			value, edited, ok = mendedSchema(raw, val, name == "inputSchema")
			changed = changed || edited
		case "annotations":
			value = only(raw, val, func(key string, v []byte) bool {
				if key == "title" {
					return v[0] == '"'
				}
				return !strings.HasSuffix(key, "Hint") || v[0] == 't' || v[0] == 'f'
			})
			ok = value != nil
		case "execution":
			value = only(raw, val, func(key string, v []byte) bool {
				return key != "taskSupport" || slices.Contains([]string{`"required"`, `"optional"`, `"forbidden"`}, string(v))
			})
			ok = value != nil
		case "icons":
			ok = value[0] == '['
			for icon := range wire.Elements(raw, val) {
				src, err := wire.FindPath(raw, icon, "src")
				ok = ok && err == nil && src.Present() && raw[src.Start] == '"'
			}
		case "_meta":
			ok = isObject(value)
		}
		if changed = changed || !ok || len(value) != val.End-val.Start; ok {
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

// mendedSchema gives the schema at in as one of an object, and reports whether it was edited; ok is false for an output
// schema that is of none. Whoever writes an input schema of something else, or of nothing that is said, means an object.
func mendedSchema(raw []byte, in wire.Span, input bool) (schema []byte, edited, ok bool) {
	const object = `"object"`
	var at [3]wire.Span
	if raw[in.Start] != '{' || wire.Find(raw, in, []string{"type", "properties", "required"}, at[:]) != nil {
		return []byte(`{"type":"object"}`), true, input
	}
	out := []byte{'{'}
	kind, props, required := at[0], at[1], at[2]
	if edited = !kind.Present(); edited {
		out = appendMember(out, []byte(`"type"`), []byte(object))
	}
	for key, val := range wire.Members(raw, in) {
		value := raw[val.Start:val.End]
		switch val {
		case kind:
			if string(value) != object {
				if !input {
					return nil, false, false
				}
				value, edited = []byte(object), true
			}
		case props:
			value = mendedProperties(raw, props)
		case required:
			value = texts(raw, required)
		}
		if edited = edited || value == nil || &value[0] != &raw[val.Start]; value != nil {
			out = appendMember(out, raw[key.Start:key.End], value)
		}
	}
	if !edited {
		return raw[in.Start:in.End], false, true
	}
	return append(out, '}'), true, true
}

// mendedProperties gives the object at in with a schema for each property, nil for what is no object.
func mendedProperties(raw []byte, in wire.Span) []byte {
	if raw[in.Start] != '{' {
		return nil
	}
	var edits []wire.Edit
	for _, val := range wire.Members(raw, in) {
		at := wire.Span{Start: val.Start - in.Start, End: val.End - in.Start}
		switch raw[val.Start] {
		case '{':
		case 'f':
			edits = append(edits, wire.Edit{Span: at, New: []byte(`{"not":{}}`)})
		default: // true, or no schema at all
			edits = append(edits, wire.Edit{Span: at, New: []byte(`{}`)})
		}
	}
	if edits == nil {
		return raw[in.Start:in.End]
	}
	return wire.Splice(nil, raw[in.Start:in.End], edits...)
}

// texts gives the array at in with the strings of it alone, nil for what is no array or has none left.
func texts(raw []byte, in wire.Span) []byte {
	kept, all := []byte{'['}, raw[in.Start] == '['
	for name := range wire.Elements(raw, in) {
		text := raw[name.Start:name.End]
		if text[0] != '"' {
			all = false
			continue
		}
		if len(kept) > 1 {
			kept = append(kept, ',')
		}
		kept = append(kept, text...)
	}
	switch {
	case all:
		return raw[in.Start:in.End]
	case len(kept) == 1:
		return nil
	}
	return append(kept, ']')
}

func isObject(value []byte) bool { return value[0] == '{' }

// only gives the object at in with the good ones of its members, nil for what is no object or has none left.
func only(raw []byte, in wire.Span, good func(key string, val []byte) bool) []byte {
	kept, all := []byte{'{'}, raw[in.Start] == '{'
	for key, val := range wire.Members(raw, in) {
		if name, _ := wire.Unquote(raw[key.Start:key.End]); good(name, raw[val.Start:val.End]) {
			kept = appendMember(kept, raw[key.Start:key.End], raw[val.Start:val.End])
		} else {
			all = false
		}
	}
	switch {
	case all:
		return raw[in.Start:in.End]
	case len(kept) == 1:
		return nil
	}
	return append(kept, '}')
}

func appendMember(object, key, value []byte) []byte {
	if len(object) > 1 {
		object = append(object, ',')
	}
	return append(append(append(object, key...), ':'), value...)
}
