// Package argument reads the arguments of a tool that a person writes on a command line, and checks them against the
// tool's input schema before they are sent.
//
// Each is one of
//
//	key=text    a value of the type that the schema names; a list may be written a,b,c
//	key:=JSON   the value as it stands
//	a.b=text    a member of an object, unless the schema has a key a.b
package argument

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/jsontype"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// A Schema is the input schema of a tool, as far as arguments are read by it. One that is no object says nothing.
type Schema struct{ root map[string]any }

// NewSchema reads a schema.
func NewSchema(raw []byte) Schema {
	var s Schema
	_ = json.Unmarshal(raw, &s.root) // of another shape: everything is text, and allowed
	return s
}

// members are an object as it is written, in the order of its keys.
type members struct {
	keys   []string
	values map[string]any // json.RawMessage or *members
}

func newMembers() *members { return &members{values: make(map[string]any)} }

func (m *members) set(key string, value any) {
	m.keys = append(m.keys, key)
	m.values[key] = value
}

func (m *members) append(dst []byte) []byte {
	dst = append(dst, '{')
	for _, key := range m.keys {
		dst = append(wire.AppendQuote(wire.Comma(dst), key), ':')
		switch v := m.values[key].(type) {
		case *members:
			dst = v.append(dst)
		case json.RawMessage:
			dst = append(dst, v...)
		}
	}
	return append(dst, '}')
}

// IsPair reports whether a word is a key and its value, and not a JSON object or the name of a file.
func IsPair(word string) bool {
	before, _, _ := strings.Cut(word, "{")
	return strings.Contains(before, "=")
}

// ErrForm says that a word is not KEY=VALUE.
var ErrForm = errors.New("is not KEY=VALUE")

// maxPath is how many keys deep a value may be named.
const maxPath = 32

// Parse makes a JSON object of words, by the types of the schema.
func (s Schema) Parse(words []string) ([]byte, error) {
	all := newMembers()
	for _, word := range words {
		key, text, ok := strings.Cut(word, "=")
		key, isJSON := strings.CutSuffix(key, ":")
		if !ok || key == "" {
			return nil, fmt.Errorf("argument %q %w", word, ErrForm)
		}
		path := s.path(key)
		if len(path) > maxPath || slices.Contains(path, "") {
			return nil, fmt.Errorf("argument %q: no key has this form", word)
		}
		value, err := s.value(path, text, isJSON)
		if err != nil {
			return nil, fmt.Errorf("argument %s: %w", key, err)
		}
		if !all.put(path, value) {
			return nil, fmt.Errorf("argument %s is given twice", key)
		}
	}
	return all.append(nil), nil
}

// put sets the value at a path; it reports false if one is there.
func (m *members) put(path []string, value json.RawMessage) bool {
	for ; len(path) > 1; path = path[1:] {
		switch in := m.values[path[0]].(type) {
		case nil:
			inner := newMembers()
			m.set(path[0], inner)
			m = inner
		case *members:
			m = in
		default:
			return false
		}
	}
	if m.values[path[0]] != nil {
		return false
	}
	m.set(path[0], value)
	return true
}

// path takes a key apart at its dots, unless the schema has one that is written with them.
func (s Schema) path(key string) []string {
	properties, _ := s.root["properties"].(map[string]any)
	if _, whole := properties[key]; whole {
		return []string{key}
	}
	return strings.Split(key, ".")
}

// value reads one value.
func (s Schema) value(path []string, text string, isJSON bool) (json.RawMessage, error) {
	if isJSON {
		if !json.Valid([]byte(text)) {
			return nil, fmt.Errorf("must be JSON, as it is written with :=, got %q", text)
		}
		return json.RawMessage(text), nil
	}
	at := s.at(path)
	types := jsontype.Of(s.root, at)
	value, err := jsontype.Value(text, types)
	if err != nil && slices.Contains(types, "array") && !strings.HasPrefix(strings.TrimSpace(text), "[") {
		return s.list(at, text)
	}
	return value, err
}

// list reads a list written with commas. The empty text is an empty one.
func (s Schema) list(schema any, text string) (json.RawMessage, error) {
	out := []byte{'['}
	if text == "" {
		return append(out, ']'), nil
	}
	var types []string
	for _, part := range jsontype.Parts(s.root, schema) {
		types = append(types, jsontype.Of(s.root, part["items"])...)
	}
	for one := range strings.SplitSeq(text, ",") {
		value, err := jsontype.Value(one, types)
		if err != nil {
			return nil, err
		}
		out = append(wire.Comma(out), value...)
	}
	return append(out, ']'), nil
}

// at is the schema of the value at a path, nil if there is none.
func (s Schema) at(path []string) any {
	var here any = s.root
	for _, key := range path {
		here = s.member(here, key)
	}
	return here
}

// member is the schema of a member of an object: that of its key, else that of all other keys.
func (s Schema) member(object any, key string) (other any) {
	for _, part := range jsontype.Parts(s.root, object) {
		properties, _ := part["properties"].(map[string]any)
		if of, ok := properties[key]; ok {
			return of
		}
		if of, ok := part["additionalProperties"]; ok {
			other = of
		}
	}
	return other
}

// maxReferences is how many references are followed to a schema.
const maxReferences = 8

// resolved is the schema that a schema refers to.
func (s Schema) resolved(schema any) map[string]any {
	for range maxReferences {
		object, _ := schema.(map[string]any)
		ref, isRef := object["$ref"].(string)
		if !isRef {
			return object
		}
		schema = jsontype.Pointed(s.root, ref)
	}
	return nil
}

// FaultError says what is wrong with arguments.
type FaultError struct {
	Faults []string
	// Guessed says that the schema allows the arguments, and that keys alone are nearly called as some that it has.
	Guessed bool
}

func (e *FaultError) Error() string { return strings.Join(e.Faults, "; ") }
