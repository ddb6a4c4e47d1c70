package config

import (
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/document"
)

// object reads the members of one object of the file. Each of its methods asks for a key; what nobody asked for is
// reported by done.
type object struct {
	c       *checker
	path    string
	at      position
	members map[string]document.Member
	order   []document.Member
	known   []string // the keys asked for
}

// object starts to read n, which must be an object, and reports keys that occur twice. The second result is false, and
// the fault reported, if n is none.
func (c *checker) object(n *document.Node, path string) (*object, bool) {
	members, ok := c.members(n, path, ignored)
	if !ok {
		return nil, false
	}
	o := &object{c: c, path: path, at: position{n.Line, n.Column}, members: make(map[string]document.Member, len(members)), order: members}
	for _, m := range members {
		o.members[m.Key] = m
	}
	return o, true
}

// done reports the keys that nobody asked for. Foreign may name the key that another client's key stands for.
func (o *object) done(foreign func(key string) string) {
	known := make(map[string]bool, len(o.known))
	for _, key := range o.known {
		known[key] = true
	}
	for _, m := range o.order {
		if known[m.Key] {
			continue
		}
		hint := foreign(m.Key)
		if hint == "" {
			hint = didYouMean(m.Key, o.known)
		}
		if hint == "" {
			hint = "known are " + strings.Join(o.known, ", ")
		}
		o.c.fault(position{m.Line, m.Column}, join(o.path, m.Key), "want a known key, got "+quote(m.Key), hint)
	}
}

func (o *object) has(key string) bool {
	_, ok := o.members[key]
	return ok
}

// take asks for a key.
func (o *object) take(key string) (n *document.Node, path string, ok bool) {
	o.known = append(o.known, key)
	m, ok := o.members[key]
	return m.Value, join(o.path, key), ok
}

// text reads a string. The result is false if there is none to use: no such key, or a fault that is reported.
func (o *object) text(key string, secret bool) (value, bool) {
	n, path, ok := o.take(key)
	if !ok {
		return value{}, false
	}
	return o.c.text(n, path, secret)
}

// choice reads a string that must be one of the options.
func (o *object) choice(key string, options ...string) (value, bool) {
	n, path, ok := o.take(key)
	if !ok {
		return value{}, false
	}
	return o.choiceOf(n, path, options...)
}

// choiceOf reads a string that must be one of the options, of a key that was asked for.
func (o *object) choiceOf(n *document.Node, path string, options ...string) (value, bool) {
	v, ok := o.c.text(n, path, false)
	if !ok {
		return v, false
	}
	if slices.Contains(options, v.text) {
		return v, true
	}
	o.c.reject(v, "want "+oneOf(options), didYouMean(v.text, options))
	return v, false
}

// list reads an array of strings.
func (o *object) list(key string, secret bool) []value {
	n, path, ok := o.take(key)
	if !ok {
		return nil
	}
	return o.c.list(n, path, secret)
}

// table reads an object of strings whose keys are free, and therefore none a comment. What it holds is secret.
func (o *object) table(key string) []pair {
	n, path, ok := o.take(key)
	if !ok {
		return nil
	}
	members, _ := o.c.members(n, path, func(string) bool { return false })
	pairs := make([]pair, 0, len(members))
	for _, m := range members {
		at := join(path, m.Key)
		v, ok := o.c.text(m.Value, at, true)
		if !ok {
			v = value{path: at, node: m.Value, secret: true} // Its key is still to be checked.
		}
		pairs = append(pairs, pair{m.Key, position{m.Line, m.Column}, v})
	}
	return pairs
}

// isFalse reports whether a key that says something else, too, is false. If it is, it is asked for.
func (o *object) isFalse(key string) bool {
	m, ok := o.members[key]
	if !ok || m.Value.Kind != document.Boolean || m.Value.Value != "false" {
		return false
	}
	o.known = append(o.known, key)
	return true
}
