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
//
// An output schema of anything is kept, as revision 2026-07-28 has it (SEP-2106); anyOutput reports that it is not said
// to be of an object.
func mended(raw []byte) (tool []byte, changed, anyOutput bool) {
	whole := wire.Whole(raw)
	out, takes := []byte{'{'}, false
	for key, val := range wire.Members(raw, whole) {
		name, _ := wire.Unquote(raw[key.Start:key.End])
		value, ok := raw[val.Start:val.End], true
		switch name {
		case "title", "description":
			ok = value[0] == '"'
		case "inputSchema":
			var edited bool
			value, edited = mendedSchema(raw, val)
			takes, changed = true, changed || edited
		case "outputSchema":
			if ok = isObject(value); !ok {
				break
			}
			if anyOutput = !saysObject(raw, val); !anyOutput {
				var edited bool
				value, edited = mendedSchema(raw, val)
				changed = changed || edited
			}
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
			out = wire.AppendMember(out, raw[key.Start:key.End], value)
		}
	}
	if !takes {
		out, changed = wire.AppendMember(out, []byte(`"inputSchema"`), []byte(`{"type":"object"}`)), true
	}
	if !changed {
		return raw, false, anyOutput
	}
	return append(out, '}'), true, anyOutput
}

const object = `"object"` // the type that a schema of an object says

// saysObject reports whether the schema at in is of an object: by its type or, where it has none, its properties.
func saysObject(raw []byte, in wire.Span) bool {
	var at [2]wire.Span
	if wire.Find(raw, in, []string{"type", "properties"}, at[:]) != nil {
		return false
	}
	if kind := at[0]; kind.Present() {
		return string(raw[kind.Start:kind.End]) == object
	}
	return at[1].Present()
}

// mendedSchema gives the schema at in as one of an object, and reports whether it was edited. Whoever writes an input
// schema of something else, or of nothing that is said, means an object.
func mendedSchema(raw []byte, in wire.Span) (schema []byte, edited bool) {
	var at [3]wire.Span
	if raw[in.Start] != '{' || wire.Find(raw, in, []string{"type", "properties", "required"}, at[:]) != nil {
		return []byte(`{"type":"object"}`), true
	}
	out := []byte{'{'}
	kind, props, required := at[0], at[1], at[2]
	if edited = !kind.Present(); edited {
		out = wire.AppendMember(out, []byte(`"type"`), []byte(object))
	}
	for key, val := range wire.Members(raw, in) {
		value := raw[val.Start:val.End]
		switch val {
		case kind:
			if string(value) != object {
				value, edited = []byte(object), true
			}
		case props:
			value = mendedProperties(raw, props)
		case required:
			value = texts(raw, required)
		}
		if edited = edited || value == nil || &value[0] != &raw[val.Start]; value != nil {
			out = wire.AppendMember(out, raw[key.Start:key.End], value)
		}
	}
	if !edited {
		return raw[in.Start:in.End], false
	}
	return append(out, '}'), true
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
		if text := raw[name.Start:name.End]; text[0] == '"' {
			kept = append(wire.Comma(kept), text...)
		} else {
			all = false
		}
	}
	return remaining(raw, in, kept, all, ']')
}

func isObject(value []byte) bool { return value[0] == '{' }

// only gives the object at in with the good ones of its members, nil for what is no object or has none left.
func only(raw []byte, in wire.Span, good func(key string, val []byte) bool) []byte {
	kept, all := []byte{'{'}, raw[in.Start] == '{'
	for key, val := range wire.Members(raw, in) {
		if name, _ := wire.Unquote(raw[key.Start:key.End]); good(name, raw[val.Start:val.End]) {
			kept = wire.AppendMember(kept, raw[key.Start:key.End], raw[val.Start:val.End])
		} else {
			all = false
		}
	}
	return remaining(raw, in, kept, all, '}')
}

// remaining gives what was kept of the value at in: its own bytes if that is all of it, nil if it is nothing.
func remaining(raw []byte, in wire.Span, kept []byte, all bool, end byte) []byte {
	switch {
	case all:
		return raw[in.Start:in.End]
	case len(kept) == 1:
		return nil
	}
	return append(kept, end)
}
