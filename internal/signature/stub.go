package signature

import (
	"strings"
	"unicode"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// maxOutput is how long the type of what a tool gives may be, in bytes.
const maxOutput = 240

// Stub declares a tool for scripts as a method of TypeScript, without its name, from the schemas of its arguments and
// of what it gives, of which the second may be empty:
//
//	(args: {title: string, body?: string}): Promise<{number: number}>
//
// What of a type does not fit is any.
func Stub(input, output []byte) string {
	args := "{" + stubReader(input).parameters() + "}"
	text := "(args: " + args + ")"
	switch r := stubReader(input); {
	case args == "{}":
		text = "()"
	case r != nil && !r.needsAny():
		text = "(args?: " + args + ")"
	}
	if r := stubReader(output); r != nil && len(output) > 0 {
		t, _ := r.typ(r.node(wire.Whole(output)), 0, maxOutput)
		text += ": Promise<" + t + ">"
	}
	return text
}

// stubReader reads a schema for a declaration; nil if it is too long to be read.
func stubReader(schema []byte) *reader {
	if len(schema) > maxSchema {
		return nil
	}
	return newReader(schema, dialect{script: true, others: anyMore, rest: "any", elements: "...any[]", key: "[key: string]"})
}

// parameters are the members of the object that a tool takes.
func (r *reader) parameters() string {
	if r == nil {
		return anyMore
	}
	n := r.node(wire.Whole(r.raw))
	if fields := r.fields(n); len(fields) > 0 {
		return r.list(fields, 0, maxLine)
	}
	switch t, _ := r.typ(n, 0, maxLine); t {
	case "object", "any":
		return ""
	default: // such as a choice of objects
		return anyMore
	}
}

// needsAny reports whether a call needs an argument.
func (r *reader) needsAny() bool {
	for _, f := range r.fields(r.node(wire.Whole(r.raw))) {
		if f.required {
			return true
		}
	}
	return false
}

// anyMore declares members that are not told.
const anyMore = "[more: string]: any"

// Member words the name of a member of an object in a script: as it is if it is an identifier, else in quotes.
func Member(name string) string {
	for i, c := range name {
		if c != '_' && c != '$' && (c == unicode.ReplacementChar || !unicode.IsLetter(c) && (i == 0 || !unicode.IsDigit(c))) {
			return quote(name, maxName)
		}
	}
	if name == "" {
		return quote(name, maxName)
	}
	return cut.Bytes(name, maxName)
}

// named words the name of a field.
func (r *reader) named(name string) string {
	if r.script {
		return Member(name)
	}
	return Name(name)
}

// plain is the name of a type that has nothing in it.
func (r *reader) plain(typ string) string {
	if r.script {
		typ = strings.NewReplacer("integer", "number", "array", "any[]").Replace(typ)
	}
	return typ
}
