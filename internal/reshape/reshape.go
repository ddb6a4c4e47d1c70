// Package reshape offers a tool otherwise than its server does: under a name and with a description of the user's own,
// with default arguments, without parameters that nobody is to give, and with names of parameters that models can be
// given. Definitions and arguments stay bytes: what is not changed is copied as it stands.
package reshape

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// Argument is the value of a parameter.
type Argument struct {
	Name  string
	Value json.RawMessage
}

// Rule says how a tool is offered. Empty fields change nothing.
type Rule struct {
	Name, Description string
	Defaults          []Argument // given to a call that has none of that name
	Hidden            []string   // neither shown nor taken from a call
}

// Arguments is what becomes of the arguments of one tool. It never changes and may be used by several goroutines at
// once; nil changes nothing.
type Arguments struct {
	defaults []Argument
	hidden   []string
	shown    []string          // the other parameters of the tool
	own      map[string]string // what the server calls those that are shown under another name, see Plain
}

// Definition gives a tool's definition as the rule has it, what to do with arguments, and which parameters the rule
// names that the tool has not. A definition that is no object stays as it is.
func (r *Rule) Definition(raw []byte) (out []byte, a *Arguments, unknown []string) {
	whole := wire.Whole(raw)
	out = []byte{'{'}
	described := r.Description == ""
	var schema wire.Span
	for key, val := range wire.Members(raw, whole) {
		value := raw[val.Start:val.End]
		switch name, _ := wire.Unquote(raw[key.Start:key.End]); {
		case name == "name" && r.Name != "":
			value = wire.AppendQuote(nil, r.Name)
		case name == "description" && r.Description != "":
			value, described = wire.AppendQuote(nil, r.Description), true
		case name == "inputSchema":
			schema = val
			value = r.schema(raw, val)
		}
		out = wire.AppendMember(out, raw[key.Start:key.End], value)
	}
	if !described {
		out = wire.AppendMember(out, []byte(`"description"`), wire.AppendQuote(nil, r.Description))
	}
	if r.Defaults == nil && r.Hidden == nil {
		return append(out, '}'), nil, nil
	}
	a = &Arguments{defaults: r.Defaults, hidden: r.Hidden}
	all := parameters(raw[schema.Start:schema.End])
	for _, name := range all {
		if !slices.Contains(r.Hidden, name) {
			a.shown = append(a.shown, name)
		}
	}
	for _, d := range r.Defaults {
		if !slices.Contains(all, d.Name) {
			unknown = append(unknown, d.Name)
		}
	}
	for _, name := range r.Hidden {
		if !slices.Contains(all, name) && !slices.Contains(unknown, name) {
			unknown = append(unknown, name)
		}
	}
	return append(out, '}'), a, unknown
}

// parameters gives the names that a schema has for arguments.
func parameters(schema []byte) (names []string) {
	for key := range wire.Members(schema, at(schema, wire.Whole(schema), "properties")) {
		names = append(names, string(nameOf(schema[key.Start:key.End])))
	}
	return names
}

// schema gives an input schema without what is hidden. What has a default need not be given.
func (r *Rule) schema(raw []byte, in wire.Span) []byte {
	if raw[in.Start] != '{' {
		return raw[in.Start:in.End]
	}
	return wire.MapMembers(raw, in, func(key []byte, val wire.Span) []byte {
		value := raw[val.Start:val.End]
		switch name := string(nameOf(key)); {
		case name == "properties" && value[0] == '{':
			return wire.MapMembers(raw, val, func(key []byte, val wire.Span) []byte {
				if name := string(nameOf(key)); !slices.Contains(r.Hidden, name) {
					return r.property(name, raw, val)
				}
				return nil
			})
		case name == "required" && value[0] == '[':
			return wire.MapElements(raw, val, func(e wire.Span) []byte {
				if name, _ := wire.Unquote(raw[e.Start:e.End]); slices.Contains(r.Hidden, name) || r.value(name) != nil {
					return nil
				}
				return raw[e.Start:e.End]
			})
		}
		return value
	})
}

// property gives the schema of a parameter, with the default that it has now.
func (r *Rule) property(name string, raw []byte, in wire.Span) []byte {
	value := r.value(name)
	if value == nil || raw[in.Start] != '{' {
		return raw[in.Start:in.End]
	}
	out := []byte{'{'}
	for key, val := range wire.Members(raw, in) {
		if name, _ := wire.Unquote(raw[key.Start:key.End]); name != "default" {
			out = wire.AppendMember(out, raw[key.Start:key.End], raw[val.Start:val.End])
		}
	}
	return append(wire.AppendMember(out, []byte(`"default"`), value), '}')
}

// value gives the default of a parameter; nil if it has none.
func (r *Rule) value(name string) json.RawMessage {
	for _, d := range r.Defaults {
		if d.Name == name {
			return d.Value
		}
	}
	return nil
}

// ErrNoObject refuses arguments of which it cannot be said what they give.
var ErrNoObject = errors.New("arguments must be an object")

// Merge gives the arguments that the server is to have for those of a call, which are nil if it has none. It gives
// given itself where nothing changes.
func (a *Arguments) Merge(given []byte) ([]byte, error) {
	switch {
	case a == nil:
		return given, nil
	case given == nil || string(given) == "null":
		given = []byte("{}")
	case given[0] != '{':
		return nil, ErrNoObject
	}
	theirs := make(map[string]bool) // what is given by a name of the server's counts
	if a.own != nil {
		for key := range wire.Members(given, wire.Whole(given)) {
			theirs[string(nameOf(given[key.Start:key.End]))] = true
		}
	}
	out, changed := []byte{'{'}, false
	sent := make(map[string]bool)
	for key, val := range wire.Members(given, wire.Whole(given)) {
		name, token := string(nameOf(given[key.Start:key.End])), given[key.Start:key.End]
		own, renamed := a.own[name]
		if !renamed && a.hides(name) || renamed && theirs[own] {
			changed = true
			continue
		}
		if renamed {
			name, token, changed = own, wire.AppendQuote(nil, own), true
		}
		sent[name] = true
		out = wire.AppendMember(out, token, given[val.Start:val.End])
	}
	for _, d := range a.defaults {
		if !sent[d.Name] {
			out = wire.AppendMember(out, wire.AppendQuote(nil, d.Name), d.Value)
			changed = true
		}
	}
	if !changed {
		return given, nil
	}
	return append(out, '}'), nil
}

// hides reports whether a caller may not give an argument: a hidden one, and one that differs from it in case alone,
// which some servers take for it, unless the tool has that one too.
func (a *Arguments) hides(name string) bool {
	return slices.Contains(a.hidden, name) || !slices.Contains(a.shown, name) &&
		slices.ContainsFunc(a.hidden, func(hidden string) bool { return strings.EqualFold(hidden, name) })
}
