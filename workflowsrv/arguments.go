package workflowsrv

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/mcpserve"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// arguments are the arguments of a call by name, still encoded. They are read one after the other; fault is that of the
// first which cannot be used.
type arguments struct {
	given map[string]json.RawMessage
	fault *fault
	bare  bool // the call came in the bare form, which keeps the rule of the published API for steps that lack a variable
}

// parseArguments reads the arguments of a tool that has those known. Absent, null and [] are no arguments, and a JSON
// string that holds an object is that object: agents and clients send all of these.
func parseArguments(raw []byte, tool string, known []string) (a arguments) {
	raw = bytes.TrimSpace(raw)
	if len(raw) > 0 && raw[0] == '"' {
		if text, ok := wire.Unquote(raw); ok {
			raw = bytes.TrimSpace([]byte(text))
		}
	}
	if len(raw) == 0 || string(raw) == "null" || isEmptyArray(raw) {
		return a
	}
	if err := json.Unmarshal(raw, &a.given); err != nil {
		a.refuse("the arguments must be an object")
	}
	delete(a.given, "_meta")
	if stranger := mcpserve.Stranger(tool, a.given, known); stranger != "" {
		a.refuse(stranger)
	}
	return a
}

func isEmptyArray(raw []byte) bool {
	inner, ok := bytes.CutPrefix(raw, []byte("["))
	return ok && string(bytes.TrimSpace(inner)) == "]"
}

// refuse notes that an argument cannot be used.
func (a *arguments) refuse(details string) {
	if a.fault == nil {
		a.fault = invalidParams(details)
	}
}

// has reports whether the argument is there and not null.
func (a *arguments) has(name string) bool {
	raw, ok := a.given[name]
	return ok && string(raw) != "null"
}

// text returns a string argument, "" if it is absent.
func (a *arguments) text(name string) string {
	if !a.has(name) {
		return ""
	}
	s, ok := wire.Unquote(a.given[name])
	if !ok || a.given[name][0] != '"' {
		a.refuse(name + " must be a string")
	}
	return s
}

// id returns the argument that names a workflow or a step.
func (a *arguments) id(names ...string) string {
	i := slices.IndexFunc(names, a.has)
	if i < 0 {
		a.refuse(names[0] + " is required")
		return ""
	}
	id := a.text(names[i])
	switch {
	case len(id) < 3 || len(id) > 64:
		a.refuse(names[i] + " must have 3 to 64 characters")
	case strings.ContainsFunc(id, func(c rune) bool {
		return c != '-' && c != '_' && c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	}):
		a.refuse(names[i] + " may only hold letters, digits, '-', '_' and '.'")
	}
	return id
}

// unwrapped returns the argument; where it is a string that holds JSON beginning with one of the characters in first,
// it returns that JSON.
func (a *arguments) unwrapped(name, first string) []byte {
	raw := a.given[name]
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
func (a *arguments) object(name string) (m map[string]any) {
	raw := a.unwrapped(name, "{")
	if !a.has(name) || len(raw) == 2 && raw[0] == '{' {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&m); err != nil || m == nil || dec.More() {
		a.refuse(name + " must be an object")
	}
	return m
}

// raw returns an argument that is an object or a list, still encoded; nil if it is absent or empty.
func (a *arguments) raw(name, first, what string) json.RawMessage {
	if !a.has(name) {
		return nil
	}
	raw := a.unwrapped(name, first)
	if len(raw) == 0 || strings.IndexByte(first, raw[0]) < 0 || !json.Valid(raw) {
		a.refuse(name + " must be " + what)
		return nil
	}
	if raw = wire.Compact(nil, raw); len(raw) == 2 {
		return nil
	}
	return raw
}

// strings returns an argument that lists strings, nil if it is absent.
func (a *arguments) strings(name string) (list []string) {
	if a.has(name) && json.Unmarshal(a.unwrapped(name, "["), &list) != nil {
		a.refuse(name + " must be an array of strings")
	}
	return list
}
