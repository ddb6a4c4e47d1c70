package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// A jsonReader makes nodes of a JSON document.
type jsonReader struct {
	at     *cursor
	faults *Faults
	nodes  int
}

// readJSON parses JSON, which in settings may have comments and trailing commas. What is none is one fault, and then
// there is no node.
func readJSON(at *cursor, fs *Faults, settings bool) *Node {
	data := at.data
	if i := TooDeep(data, maxDepth); i >= 0 {
		fs.Add(at.to(i), "", "%v", errDeep)
		return nil
	}
	if len(bytes.TrimSpace(data)) == 0 {
		fs.Add(at.to(0), "", "the file is empty")
		return nil
	}
	v, err := ParseJSON(data)
	if err != nil {
		line, column := 1, 1
		_, _ = fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column) // the first line will do
		start := 0
		for range line - 1 {
			start += bytes.IndexByte(data[start:], '\n') + 1
		}
		fs.Add(at.to(start+column-1), "", "not valid JSON: %s", jsonReason(err)) // its columns are bytes
		return nil
	}
	if !settings && !v.IsStandard() {
		plain := v.Clone()
		plain.Standardize() // blanks in place of what JSON does not have
		i, bare := 0, plain.Pack()
		for data[i] == bare[i] {
			i++
		}
		fs.Add(at.to(i), "", "not valid JSON: here is a comment, or a comma that no value follows")
		return nil
	}
	r := &jsonReader{at: at, faults: fs}
	n := r.value(&v)
	if r.nodes > maxNodes && !settings {
		fs.Add(n, "", "%v", errMany)
		return nil
	}
	return n
}

// ParseJSON parses JSON with comments. The end of the text also ends a comment of one line. TooDeep is to be asked first.
func ParseJSON(data []byte) (hujson.Value, error) {
	v, err := hujson.Parse(data)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		if ended, err := hujson.Parse(append(bytes.Clone(data), '\n')); err == nil {
			return ended, nil
		}
	}
	return v, err
}

// jsonReason words an error of hujson, whose own text may quote a whole string of the file, which may be a secret.
func jsonReason(err error) string {
	inner := errors.Unwrap(err)
	if inner == nil {
		return "a value that JSON does not have"
	}
	switch text := inner.Error(); {
	case errors.Is(inner, io.ErrUnexpectedEOF):
		return "the file ends within it; is a bracket, a quote or a comment left open?"
	case strings.HasPrefix(text, `invalid literal: "`):
		return `a string with an escape or a control character that JSON does not have; write \\ for a backslash and \n for a new line`
	case strings.HasPrefix(text, "invalid literal"):
		return "a bare word; put strings in double quotes"
	case strings.HasSuffix(text, "(expecting ',' or '}')"), strings.HasSuffix(text, "(expecting ',' or ']')"):
		return text + "; is a comma missing before it?"
	case slices.ContainsFunc([]string{`'\''`, "'`'", "'“'", "'”'", "'„'", "'‘'", "'’'", "'«'"}, func(mark string) bool {
		return strings.HasPrefix(text, "invalid character "+mark)
	}):
		return text + `; put strings and keys in straight double quotes: "`
	default:
		return text
	}
}

// value makes a Node of a value, and asks for places in the order of the file.
func (r *jsonReader) value(v *hujson.Value) *Node {
	n := r.at.to(v.StartOffset)
	r.nodes++
	switch value := v.Value.(type) {
	case *hujson.Object:
		n.Kind = Object
		seen := make(map[string]bool, len(value.Members))
		for i := range value.Members {
			m := &value.Members[i]
			at, key := r.at.to(m.Name.StartOffset), m.Name.Value.(hujson.Literal).String()
			if seen[key] {
				r.faults.Add(at, "", "key %q occurs twice in the same object", key)
			}
			seen[key] = true
			n.Members = append(n.Members, Member{Key: key, Line: at.Line, Column: at.Column, Value: r.value(&m.Value)})
		}
	case *hujson.Array:
		n.Kind = Array
		for i := range value.Elements {
			n.Items = append(n.Items, r.value(&value.Elements[i]))
		}
	case hujson.Literal:
		switch value.Kind() {
		case '"':
			n.Kind, n.Value = Text, value.String()
		case '0':
			n.Kind, n.Value = Number, string(value)
		case 't', 'f':
			n.Kind, n.Value = Boolean, strconv.FormatBool(value.Bool())
		}
	}
	return n
}

// TooDeep returns the offset of the bracket of JSON with comments that opens a level more than most, or -1. It is to be
// asked before ParseJSON, whose recursion on a few megabytes of brackets is more than the stack of a goroutine may hold,
// and that cannot be recovered.
func TooDeep(data []byte, most int) int {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '[', '{':
			if depth++; depth > most {
				return i
			}
		case ']', '}':
			depth--
		case '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		case '/':
			end := -1
			switch {
			case bytes.HasPrefix(data[i:], []byte("//")):
				end = bytes.IndexByte(data[i:], '\n')
			case bytes.HasPrefix(data[i:], []byte("/*")):
				if end = bytes.Index(data[i+2:], []byte("*/")); end >= 0 {
					end += len("/*") + 1
				}
			default:
				continue
			}
			if end < 0 {
				return -1
			}
			i += end
		}
	}
	return -1
}
