package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"github.com/mcp-workbench/workbench/internal/document"
)

// parseJSON reads JSON with comments and trailing commas.
func parseJSON(data []byte) (*node, *Fault) {
	if at := document.TooDeep(data, maxDepth); at >= 0 {
		c := cursor{data: data}
		return nil, faultAt(c.position(at), fmt.Sprintf("want at most %d levels, got more", maxDepth), "")
	}
	v, err := hujson.Parse(data)
	if err != nil {
		return nil, jsonFault(data, err)
	}
	c := cursor{data: data}
	return c.node(&v), nil
}

// jsonFault words a syntax error of hujson. Its own text may quote a whole string of the file, which may be a secret.
func jsonFault(data []byte, err error) *Fault {
	line, column := 1, 1
	if _, scanErr := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column); scanErr != nil {
		return faultAt(position{1, 1}, "want JSON, got something else", "")
	}
	at := position{line, 1}
	start := 0
	for range line - 1 {
		start += bytes.IndexByte(data[start:], '\n') + 1
	}
	offset := min(start+column-1, len(data))
	at.column = utf8.RuneCount(data[start:offset]) + 1

	inner := errors.Unwrap(err)
	switch text := inner.Error(); {
	case errors.Is(inner, io.ErrUnexpectedEOF):
		return faultAt(at, "want the rest of the JSON text, got the end of the file", "is a bracket, a quote or a comment left open?")
	case strings.HasPrefix(text, `invalid literal: "`):
		return faultAt(at, "want a JSON string, got one with an escape or a control character that JSON does not have", `write \\ for a backslash and \n for a new line`)
	case strings.HasPrefix(text, "invalid literal"):
		return faultAt(at, "want a JSON value, got a bare word", "strings stand in double quotes")
	default:
		return faultAt(at, "want JSON, got an "+text, quoteHint(text))
	}
}

// quoteHint is what to do where a quotation mark stands that JSON does not have.
func quoteHint(text string) string {
	for _, mark := range []string{`'\''`, "'`'", "'“'", "'”'", "'„'", "'‘'", "'’'", "'«'"} {
		if strings.HasPrefix(text, "invalid character "+mark) {
			return `strings and keys stand in straight double quotes: "`
		}
	}
	if strings.HasSuffix(text, "(expecting ',' or '}')") || strings.HasSuffix(text, "(expecting ',' or ']')") {
		return "is a comma missing before it?"
	}
	return ""
}

// tomlLine is a line that a file in TOML has, and one in JSON has not.
var tomlLine = regexp.MustCompile(`(?m)^\s*(\[\[?[A-Za-z0-9_."-]+\]\]?|[A-Za-z0-9_-]+\s*=.*)\s*$`)

// isTOML reports whether a file is one in TOML, as Codex has it.
func isTOML(name string, data []byte) bool {
	if strings.EqualFold(filepath.Ext(name), ".toml") {
		return true
	}
	first := bytes.TrimLeft(data, " \t\r\n")
	return len(first) > 0 && first[0] != '{' && tomlLine.Match(data)
}

// cursor turns offsets, asked for in rising order, into positions in one pass over the data.
type cursor struct {
	data         []byte
	offset       int
	line, column int // less 1
}

func (c *cursor) position(offset int) position {
	between := c.data[c.offset:offset]
	if n := bytes.Count(between, []byte("\n")); n > 0 {
		c.line += n
		c.column = 0
		between = between[bytes.LastIndexByte(between, '\n')+1:]
	}
	c.column += utf8.RuneCount(between)
	c.offset = offset
	return position{c.line + 1, c.column + 1}
}

func (c *cursor) node(v *hujson.Value) *node {
	n := &node{at: c.position(v.StartOffset)}
	switch v := v.Value.(type) {
	case *hujson.Object:
		n.kind = kindObject
		for i := range v.Members {
			m := &v.Members[i]
			key := m.Name.Value.(hujson.Literal).String()
			at := c.position(m.Name.StartOffset)
			n.members = append(n.members, member{key, at, c.node(&m.Value)})
		}
	case *hujson.Array:
		n.kind = kindArray
		for i := range v.Elements {
			n.items = append(n.items, c.node(&v.Elements[i]))
		}
	case hujson.Literal:
		n.text = v.String()
		switch v.Kind() {
		case '"':
			n.kind = kindString
		case '0':
			n.kind, n.number = kindNumber, v.Float()
		case 't', 'f':
			n.kind = kindBool
		default:
			n.kind = kindNull
		}
	}
	return n
}
