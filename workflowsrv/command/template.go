package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// A template is a text with values to be filled in: {name} is a value of the call, ${NAME} a variable of the
// environment where those are allowed, and {{ and }} are braces.
type template struct {
	source string
	pieces []piece
}

// A piece is literal text, or a name.
type piece struct {
	literal string
	name    string // of a value or a variable; "" for literal text
	env     bool
}

// values finds the value of a name.
type values func(name string) (json.RawMessage, bool)

// parseTemplate reads a template; env allows variables of the environment.
func parseTemplate(source string, env bool) (*template, error) {
	t := &template{source: source}
	var literal strings.Builder
	flush := func() {
		if literal.Len() > 0 {
			t.pieces = append(t.pieces, piece{literal: literal.String()})
			literal.Reset()
		}
	}
	for rest := source; rest != ""; {
		switch {
		case strings.HasPrefix(rest, "{{"), strings.HasPrefix(rest, "}}"):
			literal.WriteByte(rest[0])
			rest = rest[2:]
		case rest[0] == '{', env && strings.HasPrefix(rest, "${"):
			isEnv := rest[0] == '$'
			name, after, ok := strings.Cut(rest[strings.IndexByte(rest, '{')+1:], "}")
			if !ok || name == "" || strings.ContainsAny(name, "{\n") {
				return nil, fmt.Errorf("%q is not closed; write {name}, or {{ for a brace", cut.After(rest, 20))
			}
			flush()
			t.pieces = append(t.pieces, piece{name: strings.TrimSpace(name), env: isEnv})
			rest = after
		case rest[0] == '}':
			return nil, fmt.Errorf("a } without {; write }} for a brace")
		default:
			literal.WriteByte(rest[0])
			rest = rest[1:]
		}
	}
	flush()
	return t, nil
}

// wrongCredential says which name of a secret nobody can keep one by.
func (t *template) wrongCredential() error {
	for _, p := range t.pieces {
		if name, ok := strings.CutPrefix(p.name, credentialPrefix); ok && p.env && !named(name) {
			return fmt.Errorf("${%s} names no secret of the user; write ${user:NAME}", p.name)
		}
	}
	return nil
}

// names are the values that the template needs.
func (t *template) names() []string {
	var list []string
	if t == nil {
		return nil
	}
	for _, p := range t.pieces {
		if p.name != "" && !p.env {
			list = append(list, p.name)
		}
	}
	return list
}

// text fills the template in; what has no value is left out.
func (t *template) text(get values) string { return t.expand(get, plain, nil) }

// expand fills the template in, each value as write shows it.
func (t *template) expand(get values, write func(json.RawMessage) string, env func(string) string) string {
	var b strings.Builder
	for _, p := range t.pieces {
		switch {
		case p.name == "":
			b.WriteString(p.literal)
		case p.env:
			b.WriteString(env(p.name))
		default:
			if v, ok := get(p.name); ok {
				b.WriteString(write(v))
			}
		}
	}
	return b.String()
}

// value fills the template in. A template that is one name alone has the value itself; ok is false if that is not
// there.
func (t *template) value(get values) (v json.RawMessage, ok bool) {
	if len(t.pieces) == 1 && t.pieces[0].name != "" {
		return get(t.pieces[0].name)
	}
	return wire.AppendQuote(nil, t.text(get)), true
}

// A tree is a JSON value whose strings are templates.
type tree struct {
	text    *template // of a string
	object  map[string]*tree
	array   []*tree
	isArray bool
	literal json.RawMessage // of all else
}

// newTree makes a tree of a decoded JSON value, whose strings parse reads.
func newTree(v any, parse func(string) (*template, error)) (*tree, error) {
	switch v := v.(type) {
	case string:
		text, err := parse(v)
		return &tree{text: text}, err
	case []any:
		t := &tree{isArray: true}
		for _, item := range v {
			child, err := newTree(item, parse)
			if err != nil {
				return nil, err
			}
			t.array = append(t.array, child)
		}
		return t, nil
	case map[string]any:
		t := &tree{object: map[string]*tree{}}
		for key, item := range v {
			child, err := newTree(item, parse)
			if err != nil {
				return nil, err
			}
			t.object[key] = child
		}
		return t, nil
	}
	literal, err := json.Marshal(v)
	return &tree{literal: literal}, err
}

// names are the values that the tree needs.
func (t *tree) names() []string {
	if t == nil {
		return nil
	}
	list := t.text.names()
	for _, key := range slices.Sorted(maps.Keys(t.object)) {
		list = append(list, t.object[key].names()...)
	}
	for _, child := range t.array {
		list = append(list, child.names()...)
	}
	return list
}

// append appends the tree filled in. ok is false for a string that is one name without a value: the member or item that
// it would be is left out.
func (t *tree) append(dst []byte, get values) (_ []byte, ok bool) {
	switch {
	case t.text != nil:
		v, ok := t.text.value(get)
		return append(dst, v...), ok
	case t.object != nil:
		dst = append(dst, '{')
		for _, key := range slices.Sorted(maps.Keys(t.object)) {
			if v, ok := t.object[key].append(nil, get); ok {
				dst = wire.AppendMember(dst, wire.AppendQuote(nil, key), v)
			}
		}
		return append(dst, '}'), true
	case t.isArray:
		dst = append(dst, '[')
		for _, child := range t.array {
			if v, ok := child.append(nil, get); ok {
				dst = append(wire.Comma(dst), v...)
			}
		}
		return append(dst, ']'), true
	}
	return append(dst, t.literal...), true
}

// plain shows a value to a reader: a string without its quotes, all else as JSON.
func plain(v json.RawMessage) string {
	if s, ok := wire.Unquote(v); ok {
		return s
	}
	if bytes.Equal(v, []byte("null")) {
		return ""
	}
	return string(v)
}

// member is a named template.
type member struct {
	name string
	text *template
}

// credentialPrefix marks what ${…} stands for as a secret of the user.
const credentialPrefix = "user:"
