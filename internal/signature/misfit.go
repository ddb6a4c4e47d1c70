package signature

import (
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/jsontype"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// maxMisfits is how many faults of arguments are named.
const maxMisfits = 5

// Misfit says what in the arguments of a call, a JSON object, is plainly against the input schema of its tool:
// parameters that are missing, that are of another type or none of the values, or that are not known. "" says that
// nothing is, as far as it looks, which is not below the parameters. What it says of a schema is bounded as it is by
// [Of].
func Misfit(schema, arguments []byte) string {
	if len(schema) > maxSchema {
		return ""
	}
	r := newReader(schema, dialect{})
	n := r.node(wire.Whole(schema))
	fields := r.fields(n)
	given := make(map[string]wire.Span)
	var order []string
	for token, val := range wire.Members(arguments, wire.Whole(arguments)) {
		if text, ok := wire.Unquote(arguments[token.Start:token.End]); ok {
			given[text] = val
			order = append(order, text)
		}
	}
	var faults []string
	known := make(map[string]bool)
	for _, f := range fields {
		known[f.name] = true
		switch val, ok := given[f.name]; {
		case !ok && f.required:
			faults = append(faults, Name(f.name)+" is missing")
		case ok && !r.accepts(f.schema, arguments[val.Start:val.End]):
			t, _ := r.typ(r.node(f.schema), 0, maxType)
			faults = append(faults, Name(f.name)+" is not "+t)
		}
	}
	if len(fields) > 0 && r.first(n.additional) != '{' && r.first(n.additional) != 't' {
		for _, text := range order {
			if !known[text] {
				faults = append(faults, Name(text)+" is not known")
			}
		}
	}
	if r.work <= 0 {
		return "" // not all of it was read
	}
	if len(faults) > maxMisfits {
		faults = append(faults[:maxMisfits], more)
	}
	return strings.Join(faults, ", ")
}

// accepts reports whether a value is, by its type and the values of an enumeration, none that a schema excludes.
func (r *reader) accepts(schema wire.Span, value []byte) bool {
	n := r.node(schema)
	if n.enum.Present() {
		found := false
		text, isText := wire.Unquote(value)
		for e := range wire.Elements(r.raw, n.enum) {
			one, same := wire.Unquote(r.raw[e.Start:e.End])
			if found = found || !isText || same && one == text; found {
				break // numbers may be written in several ways
			}
		}
		if !found {
			return false
		}
	}
	var types []string
	if t, ok := wire.Unquote(r.raw[n.typ.Start:n.typ.End]); ok {
		types = append(types, t)
	}
	for e := range wire.Elements(r.raw, n.typ) {
		t, _ := wire.Unquote(r.raw[e.Start:e.End])
		types = append(types, t)
	}
	return types == nil || slices.ContainsFunc(typesOf(value), func(t string) bool { return slices.Contains(types, t) })
}

// typesOf gives the types that a JSON value has.
func typesOf(value []byte) []string {
	kind := jsontype.Kind(value)
	if kind == "integer" {
		return []string{kind, "number"}
	}
	return []string{kind}
}
