// Package jsontype reads values that people and models write as text the way a JSON Schema says they are meant.
package jsontype

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// maxRefs bounds how far a type is followed through a schema.
const maxRefs = 8

// Of gives the types that a schema allows, as far as it names any: by type, behind a reference within root, or as one
// of several. None means that the schema says nothing of types.
func Of(root map[string]any, schema any) []string { return typesOf(root, schema, maxRefs) }

func typesOf(root map[string]any, schema any, depth int) (types []string) {
	s, ok := schema.(map[string]any)
	if !ok || depth == 0 {
		return nil
	}
	switch t := s["type"].(type) {
	case string:
		return []string{t}
	case []any:
		for _, one := range t {
			if name, ok := one.(string); ok {
				types = append(types, name)
			}
		}
		return types
	}
	if ref, ok := s["$ref"].(string); ok {
		return typesOf(root, Pointed(root, ref), depth-1)
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		several, _ := s[key].([]any)
		for _, one := range several {
			types = append(types, typesOf(root, one, depth-1)...)
		}
	}
	return types
}

// Pointed follows a JSON pointer such as #/$defs/name.
func Pointed(root map[string]any, ref string) any {
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	var here any = root
	for _, name := range strings.Split(path, "/") {
		object, ok := here.(map[string]any)
		if !ok {
			return nil
		}
		here = object[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)]
	}
	return here
}

// Value turns the text of a value into JSON of one of the types wanted; text where none is named, or where nothing else
// fits and text is allowed.
func Value(value string, want []string) ([]byte, error) {
	if got := typeOf(value); got != "" && got != "string" {
		if slices.Contains(want, got) || got == "integer" && slices.Contains(want, "number") {
			return []byte(value), nil
		}
	}
	if len(want) == 0 || slices.Contains(want, "string") {
		return wire.AppendQuote(nil, value), nil
	}
	kinds := strings.Join(want, " or ")
	return nil, fmt.Errorf("must be %s, got %q", strings.Replace(kinds, "boolean", "boolean (true or false)", 1), value)
}

// typeOf gives the JSON type of a text, or "" if it is no JSON.
func typeOf(text string) string {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	var v any
	if !json.Valid([]byte(text)) || d.Decode(&v) != nil {
		return ""
	}
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return "number"
		}
		return "integer"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "string"
}
