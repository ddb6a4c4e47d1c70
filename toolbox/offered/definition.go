package offered

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// mended gives an entry of a list as the protocol has it: raw itself if that is how the server gave it. Clients that
// check a list refuse all of it, what other servers have too, for one member that is not what it should be. Such a member
// is left out, at the depth where it is, and so is an icon or an argument of a prompt without its name. Of a schema as
// much is kept as can be; an input schema that is none becomes that of any arguments; and the schemas true and false of
// a property, which not every revision has, become the objects that say the same. A resource without a name is called by
// its uri.
func mended(raw []byte, kind Kind) []byte {
	out := entries[kind].mend(raw, wire.Whole(raw))
	if out == nil {
		return nil
	}
	switch kind {
	case Tools:
		return with("inputSchema", []byte(`{"type":"object"}`), out)
	case Resources, Templates:
		_, key := kind.Method()
		return with("name", wire.Get(out, wire.Whole(out), key), out)
	}
	return out
}

// with gives an object that has a member, which is added if there is none. One that stands there twice is there.
func with(name string, value, object []byte) []byte {
	for key := range wire.Members(object, wire.Whole(object)) {
		if has, _ := wire.Unquote(object[key.Start:key.End]); has == name {
			return object
		}
	}
	if value == nil {
		return object
	}
	return append(wire.AppendMember(bytes.Clone(object[:len(object)-1]), []byte(`"`+name+`"`), value), '}')
}

// mend gives the value at in as clients take it: its own bytes if they do, nil for one that is to be left out.
type mend func(raw []byte, in wire.Span) []byte

// shape gives what becomes of the member of an object by its name; nil for one that may be anything.
type shape map[string]mend

// entries are the shapes of the entries of lists.
var entries = map[Kind]shape{
	Tools: described(shape{"inputSchema": mendedSchema, "outputSchema": mendedOutput, "annotations": hints,
		"execution": shape{"taskSupport": word("required", "optional", "forbidden")}.mend}),
	Prompts:   described(shape{"arguments": each(having("name", shape{"title": text, "description": text, "required": flag}))}),
	Resources: described(shape{"name": text, "mimeType": text, "size": number, "annotations": annotations.mend}),
	Templates: described(shape{"name": text, "mimeType": text, "annotations": annotations.mend}),
}

// described adds to the shape of an entry what those of all kinds have.
func described(s shape) shape {
	icon := shape{"mimeType": text, "sizes": each(text), "theme": word("light", "dark")}
	s["title"], s["description"], s["_meta"], s["icons"] = text, text, object, each(having("src", icon))
	return s
}

// annotations are those of a resource.
var annotations = shape{"audience": each(word("user", "assistant")), "priority": share, "lastModified": instant}

// hints are the annotations of a tool.
func hints(raw []byte, in wire.Span) []byte {
	s := shape{"title": text}
	for key := range wire.Members(raw, in) {
		if name, _ := wire.Unquote(raw[key.Start:key.End]); strings.HasSuffix(name, "Hint") {
			s[name] = flag
		}
	}
	return s.mend(raw, in)
}

func (s shape) mend(raw []byte, in wire.Span) []byte {
	return remaining(raw, in, wire.MapMembers(raw, in, func(key []byte, val wire.Span) []byte {
		name, _ := wire.Unquote(key)
		if take := s[name]; take != nil {
			return take(raw, val)
		}
		return raw[val.Start:val.End]
	}))
}

// having mends an object that is nothing without a member of text.
func having(key string, s shape) mend {
	return func(raw []byte, in wire.Span) []byte {
		if raw[in.Start] != '{' || !bytes.HasPrefix(wire.Get(raw, in, key), []byte{'"'}) {
			return nil
		}
		return s.mend(raw, in)
	}
}

// each mends the elements of an array.
func each(take mend) mend {
	return func(raw []byte, in wire.Span) []byte {
		return remaining(raw, in, wire.MapElements(raw, in, func(e wire.Span) []byte { return take(raw, e) }))
	}
}

// remaining gives what was kept of the value at in: nil if that is nothing.
func remaining(raw []byte, in wire.Span, kept []byte) []byte {
	if len(kept) == len("{}") && !wire.IsSame(kept, raw, in) {
		return nil
	}
	return kept
}

// where gives a mend that keeps what is good, and nothing else.
func where(good func(value []byte) bool) mend {
	return func(raw []byte, in wire.Span) []byte {
		if value := raw[in.Start:in.End]; good(value) {
			return value
		}
		return nil
	}
}

var (
	text   = where(func(v []byte) bool { return v[0] == '"' })
	object = where(isObject)
	flag   = where(func(v []byte) bool { return v[0] == 't' || v[0] == 'f' })
	number = where(func(v []byte) bool { return v[0] == '-' || v[0] >= '0' && v[0] <= '9' })
	// share is a number from 0 to 1.
	share = where(func(v []byte) bool {
		n, err := strconv.ParseFloat(string(v), 64)
		return err == nil && n >= 0 && n <= 1
	})
	// instant is a time with its offset (RFC 3339).
	instant = where(func(v []byte) bool {
		s, ok := wire.Unquote(v)
		_, err := time.Parse(time.RFC3339, s)
		return ok && err == nil
	})
)

func word(words ...string) mend {
	return where(func(v []byte) bool {
		s, ok := wire.Unquote(v)
		return ok && slices.Contains(words, s)
	})
}

func isObject(value []byte) bool { return value[0] == '{' }

// mendedOutput mends an output schema of an object. One of anything is kept, as revision 2026-07-28 has it (SEP-2106).
func mendedOutput(raw []byte, in wire.Span) []byte {
	if raw[in.Start] == '{' && saysObject(raw, in) {
		return mendedSchema(raw, in)
	}
	return object(raw, in)
}

const ofObject = `"object"` // the type that a schema of an object says

// saysObject reports whether the schema at in is of an object: by its type or, where it has none, its properties.
func saysObject(raw []byte, in wire.Span) bool {
	var at [2]wire.Span
	if wire.Find(raw, in, []string{"type", "properties"}, at[:]) != nil {
		return false
	}
	if kind := at[0]; kind.Present() {
		return string(raw[kind.Start:kind.End]) == ofObject
	}
	return at[1].Present()
}

// mendedSchema gives the schema at in as one of an object. Whoever writes an input schema of something else, or of nothing
// that is said, means an object.
func mendedSchema(raw []byte, in wire.Span) []byte {
	saysOf := func(raw []byte, in wire.Span) []byte {
		if value := raw[in.Start:in.End]; string(value) == ofObject {
			return value
		}
		return []byte(ofObject)
	}
	out := shape{"type": saysOf, "properties": mendedProperties, "required": each(text)}.mend(raw, in)
	if out != nil && wire.Get(out, wire.Whole(out), "type") != nil {
		return out
	}
	said := wire.AppendMember([]byte{'{'}, []byte(`"type"`), []byte(ofObject))
	if out != nil {
		for key, val := range wire.Members(out, wire.Whole(out)) {
			said = wire.AppendMember(said, out[key.Start:key.End], out[val.Start:val.End])
		}
	}
	return append(said, '}')
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
