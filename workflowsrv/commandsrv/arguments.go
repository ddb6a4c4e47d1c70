package commandsrv

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/jsontype"
	"github.com/mcp-workbench/workbench/internal/mcpserve"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// A param is an argument of an operation.
type param struct {
	name     string
	kinds    []string // JSON types
	required bool
	about    string
	// least and most bound a number; both 0 is no bound.
	least, most float64
	fallback    string // shown as the default, as JSON
}

func (p param) takes(kind string) bool {
	return slices.Contains(p.kinds, kind) || kind == "integer" && slices.Contains(p.kinds, "number")
}

// schema is the JSON Schema of the argument.
func (p param) schema() map[string]any {
	m := map[string]any{"description": p.about}
	if m["type"] = any(p.kinds); len(p.kinds) == 1 {
		m["type"] = p.kinds[0]
	}
	if p.least != 0 || p.most != 0 {
		m["minimum"], m["maximum"] = p.least, p.most
	}
	if p.fallback != "" {
		m["default"] = json.RawMessage(p.fallback)
	}
	return m
}

// inputSchema is that of all the arguments of an operation.
func inputSchema(params []param) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, p := range params {
		properties[p.name] = p.schema()
		if p.required {
			required = append(required, p.name)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

// Arguments are checked arguments by name; those that are null are left out.
type arguments map[string]json.RawMessage

// readArguments reads the arguments of a call. Absent and null are none.
func readArguments(tool string, raw []byte, params []param) (arguments, *Fault) {
	a := arguments{}
	raw = bytes.TrimSpace(raw)
	if !utf8.Valid(raw) {
		return nil, invalid("the arguments are not valid UTF-8")
	}
	if len(raw) > 0 && string(raw) != "null" {
		if err := json.Unmarshal(raw, &a); err != nil || a == nil {
			return nil, invalid("the arguments are not a JSON object")
		}
	}
	names := make([]string, len(params))
	for i, p := range params {
		names[i] = p.name
		v, given := a[p.name]
		if given && string(v) == "null" && !p.required {
			delete(a, p.name)
			continue
		}
		if !given {
			if p.required {
				return nil, invalid("%s is required: %s", p.name, p.about)
			}
			continue
		}
		if f := p.check(v); f != nil {
			return nil, f
		}
	}
	if stranger := mcpserve.Stranger(tool, a, names); stranger != "" {
		return nil, invalid("%s", stranger)
	}
	return a, nil
}

// check holds a value against the argument.
func (p param) check(v json.RawMessage) *Fault {
	kind := jsontype.Kind(v)
	if !p.takes(kind) {
		return invalid("%s must be %s, got %s", p.name, strings.Join(p.kinds, " or "), kind)
	}
	if kind == "string" && p.required {
		if text, _ := wire.Unquote(v); strings.TrimSpace(text) == "" {
			return invalid("%s is empty: %s", p.name, p.about)
		}
	}
	if (kind == "number" || kind == "integer") && (p.least != 0 || p.most != 0) {
		n, err := strconv.ParseFloat(string(v), 64)
		if err != nil || n < p.least || n > p.most {
			return invalid("%s must be from %v to %v, got %s", p.name, p.least, p.most, cut.Short(string(v)))
		}
	}
	return nil
}

// text gives a string, "" if it is absent.
func (a arguments) text(name string) string {
	text, _ := wire.Unquote(a[name])
	return text
}

// number gives a number, or what stands for one that is absent.
func (a arguments) number(name string, otherwise float64) float64 {
	n, err := strconv.ParseFloat(string(a[name]), 64)
	if err != nil {
		return otherwise
	}
	return n
}

func (a arguments) flag(name string) bool { return string(a[name]) == "true" }
