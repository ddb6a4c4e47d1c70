package document

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// Kind is what a value is in JSON.
type Kind uint8

// The kinds of values.
const (
	Null Kind = iota
	Boolean
	Number
	Text
	Array
	Object
)

// String names the kind with its article.
func (k Kind) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "an array", "an object"}[k]
}

// maxDepth bounds how deep a document may be nested, and maxNodes how many values it may hold once YAML aliases are
// expanded.
const (
	maxDepth = 100
	maxNodes = 200_000
)

// A Node is a value of a document and the place where it begins. JSON and YAML files both become nodes, so all that
// follows knows one form only.
type Node struct {
	Kind    Kind
	Value   string // of a text; the literal of a number or boolean
	Items   []*Node
	Members []Member // in the order of the file
	// Line and Column count from 1; columns are characters.
	Line, Column int
}

// A Member is a key of an object with its value.
type Member struct {
	Key          string
	Line, Column int // of the key
	Value        *Node
}

// Get returns the value of key, or nil if n has no such member.
func (n *Node) Get(key string) *Node {
	if n == nil {
		return nil
	}
	for i := range n.Members {
		if n.Members[i].Key == key {
			return n.Members[i].Value
		}
	}
	return nil
}

// Str returns the string under key, "" where it is absent or no string.
func (n *Node) Str(key string) string {
	if v := n.Get(key); v != nil && v.Kind == Text {
		return v.Value
	}
	return ""
}

// Strs returns the strings of the array under key.
func (n *Node) Strs(key string) []string {
	v := n.Get(key)
	if v == nil || v.Kind != Array {
		return nil
	}
	list := make([]string, 0, len(v.Items))
	for _, item := range v.Items {
		if item.Kind == Text {
			list = append(list, item.Value)
		}
	}
	return list
}

// List is the items of an array, or else the node alone; of nil there is none.
func (n *Node) List() []*Node {
	switch {
	case n == nil:
		return nil
	case n.Kind == Array:
		return n.Items
	}
	return []*Node{n}
}

// Truth reports whether the value under key is true.
func (n *Node) Truth(key string) bool {
	v := n.Get(key)
	return v != nil && v.Kind == Boolean && v.Value == "true"
}

// Integer returns the number under key cut to an int, and 0 where there is none.
func (n *Node) Integer(key string) int {
	v := n.Get(key)
	if v == nil || v.Kind != Number {
		return 0
	}
	f, err := strconv.ParseFloat(v.Value, 64)
	if err != nil {
		return 0
	}
	return int(f)
}

// Decoded gives the value as encoding/json does with UseNumber.
func (n *Node) Decoded() any {
	switch n.Kind {
	case Boolean:
		return n.Value == "true"
	case Number:
		return json.Number(n.Value)
	case Text:
		return n.Value
	case Array:
		list := make([]any, len(n.Items))
		for i, item := range n.Items {
			list[i] = item.Decoded()
		}
		return list
	case Object:
		m := make(map[string]any, len(n.Members))
		for _, member := range n.Members {
			m[member.Key] = member.Value.Decoded()
		}
		return m
	}
	return nil
}

// AppendJSON appends the value as compact JSON, with members in the order of the file and numbers as they are written
// there.
func (n *Node) AppendJSON(dst []byte) []byte {
	switch n.Kind {
	case Boolean, Number:
		return append(dst, n.Value...)
	case Text:
		return wire.AppendQuote(dst, n.Value)
	case Array:
		dst = append(dst, '[')
		for _, item := range n.Items {
			dst = item.AppendJSON(wire.Comma(dst))
		}
		return append(dst, ']')
	case Object:
		dst = append(dst, '{')
		for _, m := range n.Members {
			dst = append(wire.AppendQuote(wire.Comma(dst), m.Key), ':')
			dst = m.Value.AppendJSON(dst)
		}
		return append(dst, '}')
	}
	return append(dst, "null"...)
}

// At finds the value that the tokens of a JSON Pointer lead to. Where they lead nowhere it returns the last value on
// the way.
func (n *Node) At(tokens []string) *Node {
	for _, token := range tokens {
		var next *Node
		switch n.Kind {
		case Object:
			next = n.Get(token)
		case Array:
			if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(n.Items) {
				next = n.Items[i]
			}
		}
		if next == nil {
			return n
		}
		n = next
	}
	return n
}

// KeyOf returns a Node that stands where the key is written, for faults that concern the key itself.
func (n *Node) KeyOf(key string) *Node {
	for _, m := range n.Members {
		if m.Key == key {
			return &Node{Line: m.Line, Column: m.Column}
		}
	}
	return n
}

// Pointer writes tokens as a JSON Pointer.
func Pointer(tokens ...string) string {
	var b strings.Builder
	for _, token := range tokens {
		token = strings.ReplaceAll(token, "~", "~0")
		b.WriteByte('/')
		b.WriteString(strings.ReplaceAll(token, "/", "~1"))
	}
	return b.String()
}

// Text returns the string that n is, and "" where n is nil or something else.
func (n *Node) Text() string {
	if n == nil || n.Kind != Text {
		return ""
	}
	return n.Value
}

// Tokens splits a JSON Pointer; it undoes [Pointer].
func Tokens(pointer string) []string {
	if pointer == "" {
		return nil
	}
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	list := strings.Split(pointer[1:], "/")
	for i := range list {
		list[i] = unescape.Replace(list[i])
	}
	return list
}
