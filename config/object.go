package config

import (
	"cmp"
	"strings"

	"github.com/mcp-workbench/workbench/internal/document"
	"github.com/mcp-workbench/workbench/internal/nearest"
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
		hint := cmp.Or(foreign(m.Key), nearest.Hint(m.Key, o.known, "known are "+strings.Join(o.known, ", ")))
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

// within starts to read the object of a key. The result is false if there is none to read: no such key, or a fault that
// is reported.
func (o *object) within(key string) (*object, bool) {
	n, path, ok := o.take(key)
	if !ok {
		return nil, false
	}
	return o.c.object(n, path)
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
	return o.c.choice(n, path, options)
}

// choiceOrObject reads a string that is one of the options, or starts to read an object. Both results are empty if there
// is neither to use.
func (o *object) choiceOrObject(key string, options ...string) (chosen string, in *object) {
	n, path, ok := o.take(key)
	switch {
	case !ok:
	case n.Kind == document.Text:
		if v, ok := o.c.choice(n, path, options); ok {
			chosen = v.text
		}
	case n.Kind == document.Object:
		in, _ = o.c.object(n, path)
	default:
		want := strings.ReplaceAll(oneOf(options), " or ", ", ") + " or an object"
		o.c.fault(position{n.Line, n.Column}, path, "want "+want+", got "+got(n, false), "")
	}
	return chosen, in
}

// filled reads a string that is not empty.
func (o *object) filled(key string, secret bool, to *string, want, hint string) {
	v, ok := o.text(key, secret)
	if ok && v.text == "" {
		o.c.reject(v, want, hint)
	}
	if ok {
		*to = v.text
	}
}

// place reads a path of the file system.
func (o *object) place(key string) (path string) {
	if v, ok := o.text(key, false); ok {
		path = o.c.place(v)
	}
	return path
}

// list reads an array of strings.
func (o *object) list(key string, secret bool) []value {
	n, path, ok := o.take(key)
	if !ok {
		return nil
	}
	return o.c.list(n, path, secret)
}

// command reads a program with its arguments. The second result reports that none is named, or one without a name.
func (o *object) command() (argv []string, missing bool) {
	command := o.list("command", false)
	n := o.members["command"].Value
	missing = n == nil || n.Kind == document.Array && len(n.Items) == 0 || len(command) > 0 && command[0].text == ""
	if len(command) > 0 {
		command[0].text = o.c.program(command[0])
	}
	return texts(command), missing
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
