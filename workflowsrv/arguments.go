package workflowsrv

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/mcp-workbench/workbench/internal/mcpserve"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Arguments are the arguments of a call by name, still encoded.
type arguments map[string]json.RawMessage

// parseArguments reads the arguments of a tool that has those known. Absent, null and [] are no arguments, and a JSON
// string that holds an object is that object: agents and clients send all of these.
func parseArguments(raw []byte, tool string, known []string) (arguments, *fault) {
	raw = bytes.TrimSpace(raw)
	if len(raw) > 0 && raw[0] == '"' {
		if text, ok := wire.Unquote(raw); ok {
			raw = bytes.TrimSpace([]byte(text))
		}
	}
	if len(raw) == 0 || string(raw) == "null" || isEmptyArray(raw) {
		return nil, nil
	}
	var a arguments
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, invalidParams("the arguments must be an object")
	}
	delete(a, "_meta")
	if stranger := mcpserve.Stranger(tool, a, known); stranger != "" {
		return nil, invalidParams(stranger)
	}
	return a, nil
}

func isEmptyArray(raw []byte) bool {
	inner, ok := bytes.CutPrefix(raw, []byte("["))
	return ok && string(bytes.TrimSpace(inner)) == "]"
}

// has reports whether the argument is there and not null.
func (a arguments) has(name string) bool {
	raw, ok := a[name]
	return ok && string(raw) != "null"
}

// text returns a string argument, "" if it is absent.
func (a arguments) text(name string) (string, *fault) {
	if !a.has(name) {
		return "", nil
	}
	s, ok := wire.Unquote(a[name])
	if !ok || a[name][0] != '"' {
		return "", invalidParams(name + " must be a string")
	}
	return s, nil
}

// id returns the argument that names a workflow or a step.
func (a arguments) id(names ...string) (string, *fault) {
	for _, name := range names {
		s, f := a.text(name)
		if f != nil {
			return "", f
		}
		if !a.has(name) {
			continue
		}
		return s, checkID(name, s)
	}
	return "", invalidParams(names[0] + " is required")
}

// checkID refuses what can be the id of nothing.
func checkID(name, id string) *fault {
	if len(id) < 3 || len(id) > 64 {
		return invalidParams(name + " must have 3 to 64 characters")
	}
	for i := range len(id) {
		c := id[i]
		if c != '-' && c != '_' && c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return invalidParams(name + " may only hold letters, digits, '-', '_' and '.'")
		}
	}
	return nil
}

// unwrapped returns the argument; where it is a string that holds JSON beginning with one of the characters in first,
// it returns that JSON.
func (a arguments) unwrapped(name, first string) []byte {
	raw := a[name]
	if len(raw) > 0 && raw[0] == '"' {
		if s, ok := wire.Unquote(raw); ok {
			s = strings.TrimSpace(s)
			if s != "" && strings.IndexByte(first, s[0]) >= 0 {
				return []byte(s)
			}
		}
	}
	return raw
}

// object returns an argument that holds variables, nil if it is absent.
func (a arguments) object(name string) (map[string]any, *fault) {
	if !a.has(name) {
		return nil, nil
	}
	raw := a.unwrapped(name, "{")
	if len(raw) == 2 && raw[0] == '{' {
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var m map[string]any
	if err := dec.Decode(&m); err != nil || m == nil || dec.More() {
		return nil, invalidParams(name + " must be an object")
	}
	return m, nil
}

// raw returns an argument that is an object or a list, still encoded; nil if it is absent or empty.
func (a arguments) raw(name, first, what string) (json.RawMessage, *fault) {
	if !a.has(name) {
		return nil, nil
	}
	raw := a.unwrapped(name, first)
	if len(raw) == 0 || strings.IndexByte(first, raw[0]) < 0 || !json.Valid(raw) {
		return nil, invalidParams(name + " must be " + what)
	}
	if raw = wire.Compact(nil, raw); len(raw) == 2 {
		return nil, nil
	}
	return raw, nil
}

// strings returns an argument that lists strings, nil if it is absent.
func (a arguments) strings(name string) ([]string, *fault) {
	if !a.has(name) {
		return nil, nil
	}
	var list []string
	if err := json.Unmarshal(a.unwrapped(name, "["), &list); err != nil {
		return nil, invalidParams(name + " must be an array of strings")
	}
	return list, nil
}
