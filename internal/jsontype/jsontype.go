// Package jsontype reads values that people and models write as text the way a JSON Schema says they are meant.
package jsontype

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// maxRefs bounds how deep a type is followed through a schema, and maxParts through how many schemas.
const (
	maxRefs  = 8
	maxParts = 256
)

// Of gives the types that a schema allows, each once, as far as it names any: by type or by the values it lists, behind
// a reference within root, or in one of several schemas. None means that the schema says nothing of types.
func Of(root map[string]any, schema any) (types []string) {
	add := func(name string) {
		if !slices.Contains(types, name) {
			types = append(types, name)
		}
	}
	for _, part := range Parts(root, schema) {
		switch t := part["type"].(type) {
		case string:
			add(t)
			continue
		case []any:
			for _, one := range t {
				if name, ok := one.(string); ok {
					add(name)
				}
			}
			continue
		}
		values, _ := part["enum"].([]any)
		if one, ok := part["const"]; ok {
			values = []any{one}
		}
		for _, one := range values {
			if text, err := json.Marshal(one); err == nil {
				add(typeOf(string(text)))
			}
		}
	}
	return types
}

// Parts gives the objects that say what a value is to be: a schema, or what it refers to within root, and if that names
// no type, the schemas of its anyOf, oneOf and allOf.
func Parts(root map[string]any, schema any) []map[string]any {
	return partsOf(root, schema, maxRefs, nil)
}

func partsOf(root map[string]any, schema any, depth int, parts []map[string]any) []map[string]any {
	s, ok := schema.(map[string]any)
	if !ok || depth == 0 || len(parts) == maxParts {
		return parts
	}
	if ref, ok := s["$ref"].(string); ok && s["type"] == nil {
		return partsOf(root, Pointed(root, ref), depth-1, parts)
	}
	parts = append(parts, s)
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		if several, ok := s[key].([]any); ok && s["type"] == nil {
			for _, one := range several {
				parts = partsOf(root, one, depth-1, parts)
			}
		}
	}
	return parts
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
	if !json.Valid([]byte(text)) {
		return ""
	}
	return Kind([]byte(strings.TrimLeft(text, " \t\r\n")))
}

// Kind names the type of a JSON value, which nothing stands in front of, as JSON Schema does: a number without a fraction
// is an "integer", however it is written (3, 3.0, 3e0), and of the others it is a "number".
func Kind(raw []byte) string {
	switch raw[0] {
	case '"':
		return "string"
	case '{':
		return "object"
	case '[':
		return "array"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	if isInteger(strings.TrimRight(string(raw), " \t\r\n")) {
		return "integer"
	}
	return "number"
}

// KindOf is Kind of a decoded value whose numbers are of the type json.Number.
func KindOf(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return Kind([]byte(v))
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

// Int reads a JSON value that is an integer, however it is written. ok is false for what is none, and from 2^53 on, where
// not all readers of JSON agree what a number is.
func Int(raw []byte) (n int, ok bool) {
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || math.Abs(f) >= 1<<53 || !isInteger(string(raw)) {
		return 0, false
	}
	return int(f), true
}

// isInteger reports whether a JSON number has no fraction: not by its value, which may have a billion digits.
func isInteger(number string) bool {
	number, power, _ := strings.Cut(strings.ToLower(number), "e")
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(number, "-"), ".")
	significant := strings.TrimRight(whole+fraction, "0")
	places := len(significant) - len(whole) // behind the point; below 0 if zeros stand before it
	if significant == "" || power == "" {
		return significant == "" || places <= 0
	}
	exponent, err := strconv.Atoi(power)
	if err != nil { // it is beyond what an int holds
		return power[0] != '-'
	}
	return places <= exponent
}

// Properties are the names of a schema's properties in their order.
func Properties(schema []byte) (names []string) {
	properties, err := wire.FindPath(schema, wire.Whole(schema), "properties")
	if err != nil || !properties.Present() || schema[properties.Start] != '{' {
		return nil
	}
	for key := range wire.Members(schema, properties) {
		if name, ok := wire.Unquote(schema[key.Start:key.End]); ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
