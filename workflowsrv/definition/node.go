package definition

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/mcp-workbench/workbench/internal/wire"
)

type shape uint8

const (
	null shape = iota
	boolean
	number
	text
	array
	object
)

// maxDepth bounds how deep a document may be nested, and maxNodes how many
// values it may hold once YAML aliases are expanded.
const (
	maxDepth = 100
	maxNodes = 200_000
)

// A node is a value of a document and the place where it begins. JSON and
// YAML files both become nodes, so all that follows knows one form only.
type node struct {
	kind         shape
	value        string // of text; the literal of number and boolean
	items        []*node
	members      []member // in the order of the file
	line, column int
}

// A member is a key of an object with its value.
type member struct {
	key          string
	line, column int
	value        *node
}

// get returns the value of key, or nil if n has no such member.
func (n *node) get(key string) *node {
	if n == nil {
		return nil
	}
	for i := range n.members {
		if n.members[i].key == key {
			return n.members[i].value
		}
	}
	return nil
}

// str returns the string under key, "" where it is absent or no string.
func (n *node) str(key string) string {
	if v := n.get(key); v != nil && v.kind == text {
		return v.value
	}
	return ""
}

// strs returns the strings of the array under key.
func (n *node) strs(key string) []string {
	v := n.get(key)
	if v == nil || v.kind != array {
		return nil
	}
	list := make([]string, 0, len(v.items))
	for _, item := range v.items {
		if item.kind == text {
			list = append(list, item.value)
		}
	}
	return list
}

// truth reports whether the value under key is true.
func (n *node) truth(key string) bool {
	v := n.get(key)
	return v != nil && v.kind == boolean && v.value == "true"
}

// integer returns the number under key cut to an int, and 0 where there is none.
func (n *node) integer(key string) int {
	v := n.get(key)
	if v == nil || v.kind != number {
		return 0
	}
	f, err := strconv.ParseFloat(v.value, 64)
	if err != nil {
		return 0
	}
	return int(f)
}

// decoded gives the value as encoding/json does with UseNumber.
func (n *node) decoded() any {
	switch n.kind {
	case boolean:
		return n.value == "true"
	case number:
		return json.Number(n.value)
	case text:
		return n.value
	case array:
		list := make([]any, len(n.items))
		for i, item := range n.items {
			list[i] = item.decoded()
		}
		return list
	case object:
		m := make(map[string]any, len(n.members))
		for _, member := range n.members {
			m[member.key] = member.value.decoded()
		}
		return m
	}
	return nil
}

// appendJSON appends the value as compact JSON, with members in the order of
// the file and numbers as they are written there.
func (n *node) appendJSON(dst []byte) []byte {
	switch n.kind {
	case boolean, number:
		return append(dst, n.value...)
	case text:
		return wire.AppendQuote(dst, n.value)
	case array:
		dst = append(dst, '[')
		for i, item := range n.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.appendJSON(dst)
		}
		return append(dst, ']')
	case object:
		dst = append(dst, '{')
		for i, m := range n.members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = wire.AppendQuote(dst, m.key)
			dst = append(dst, ':')
			dst = m.value.appendJSON(dst)
		}
		return append(dst, '}')
	}
	return append(dst, "null"...)
}

// at finds the value that the tokens of a JSON Pointer lead to. Where they
// lead nowhere it returns the last value on the way.
func (n *node) at(tokens []string) *node {
	for _, token := range tokens {
		var next *node
		switch n.kind {
		case object:
			next = n.get(token)
		case array:
			if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(n.items) {
				next = n.items[i]
			}
		}
		if next == nil {
			return n
		}
		n = next
	}
	return n
}

// keyOf returns a node that stands where the key is written, for faults that
// concern the key itself.
func (n *node) keyOf(key string) *node {
	for _, m := range n.members {
		if m.key == key {
			return &node{line: m.line, column: m.column}
		}
	}
	return n
}

// pointer writes tokens as a JSON Pointer.
func pointer(tokens ...string) string {
	var b strings.Builder
	for _, token := range tokens {
		token = strings.ReplaceAll(token, "~", "~0")
		b.WriteByte('/')
		b.WriteString(strings.ReplaceAll(token, "/", "~1"))
	}
	return b.String()
}

// text returns the string that n is, and "" where n is nil or something else.
func (n *node) text() string {
	if n == nil || n.kind != text {
		return ""
	}
	return n.value
}
