package results

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Bounds of what is told of a shape. Elements and members are counted to the last one; what is in them is told of the
// first.
const (
	shapeDepth  = 4
	shapeKeys   = 24
	shapeLength = 1600
	sampled     = 100 // elements of an array, whose keys are told
)

// isJSON reports whether a text is an object or an array.
func isJSON(text []byte) bool {
	at := start(text)
	return at >= 0 && (text[at] == '{' || text[at] == '[') && wire.Valid(text)
}

// start is where the first character is that is no white space.
func start(text []byte) int {
	return slices.IndexFunc(text, func(c byte) bool { return c != ' ' && c != '\n' && c != '\t' && c != '\r' })
}

// shape tells what JSON is: {total: number, items: array of 23112 × {id: number, title: string}}.
func shape(text []byte) string {
	end := 0
	return cut(describe(text, start(text), &end, 0), shapeLength)
}

// cut shortens a text to so many bytes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + " …"
}

// describe tells of the value that begins at start, and finds its end.
func describe(raw []byte, start int, end *int, depth int) string {
	switch raw[start] {
	case '{':
		return describeObject(raw, start, end, depth)
	case '[':
		return describeArray(raw, start, end, depth)
	}
	*end = wire.ValueEnd(raw, start)
	switch c := raw[start]; {
	case c == '"' && *end-start > 1000:
		return fmt.Sprintf("string of %d bytes", *end-start-2)
	case c == '"':
		return "string"
	case c == 't' || c == 'f':
		return "boolean"
	case c == 'n':
		return "null"
	}
	return "number"
}

func describeObject(raw []byte, start int, end *int, depth int) string {
	var parts []string
	n := 0
	for name, value := range wire.Children(raw, start, end) {
		if n++; n <= shapeKeys && depth < shapeDepth {
			parts = append(parts, key(raw, name)+": "+cut(describe(raw, value, end, depth+1), shapeLength/2))
		}
	}
	return braces(parts, n)
}

// braces tells members, of which there are n.
func braces(parts []string, n int) string {
	switch {
	case n == 0:
		return "{}"
	case parts == nil:
		return fmt.Sprintf("object of %d keys", n)
	case n > len(parts):
		parts = append(parts, fmt.Sprintf("… %d more keys", n-len(parts)))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func key(raw []byte, name wire.Span) string {
	text, _ := wire.Unquote(raw[name.Start:name.End])
	return foreign.NewName(text).String()
}

// describeArray tells how many elements there are and what the first are, objects as the columns of a table.
func describeArray(raw []byte, start int, end *int, depth int) string {
	n := 0
	var kinds, columns []string
	types := make(map[string][]string)
	for _, e := range wire.Children(raw, start, end) {
		switch n++; {
		case n > sampled:
			continue
		case raw[e] != '{' || depth >= shapeDepth:
			if kind := describe(raw, e, end, depth+1); !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
			continue
		}
		for name, value := range wire.Children(raw, e, end) {
			if len(columns) >= 4*shapeKeys {
				continue
			}
			k, kind := key(raw, name), cut(describe(raw, value, end, depth+1), shapeLength/8)
			if _, ok := types[k]; !ok {
				columns = append(columns, k)
			}
			if !slices.Contains(types[k], kind) {
				types[k] = append(types[k], kind)
			}
		}
	}
	if columns != nil {
		var parts []string
		for _, k := range columns[:min(len(columns), shapeKeys)] {
			parts = append(parts, k+": "+either(types[k]))
		}
		kinds = append(kinds, braces(parts, len(columns)))
	}
	text := fmt.Sprintf("array of %d", n)
	switch {
	case depth > 1 && n > 0:
		return "array of " + either(kinds)
	case n == 0:
		return text
	}
	if text += " × " + either(kinds); n > sampled {
		text += fmt.Sprintf(" (as the first %d are)", sampled)
	}
	return text
}

// either tells of a few kinds.
func either(kinds []string) string {
	if len(kinds) > 3 {
		return strings.Join(kinds[:3], " | ") + " | …"
	}
	return strings.Join(kinds, " | ")
}
