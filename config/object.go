package config

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
)

// object reads the members of one object of the file. Each of its methods asks for a key; what nobody asked for is
// reported by done.
type object struct {
	c       *checker
	path    string
	at      position
	members map[string]member
	order   []member
	known   []string // the keys asked for
}

// value is a string of the file with its variables put in.
type value struct {
	text   string
	path   string
	node   *node
	varied bool // variables had a part in it
	secret bool // its text is not told
	sealed bool // secrets have a part in it, for which marks stand: what it will be is not known
}

// object starts to read n, which must be an object, and reports keys that occur twice. The second result is false, and the
// fault reported, if n is none.
func (c *checker) object(n *node, path string) (*object, bool) {
	members, ok := c.members(n, path, ignored)
	if !ok {
		return nil, false
	}
	o := &object{c: c, path: path, at: n.at, members: make(map[string]member, len(members)), order: members}
	for _, m := range members {
		o.members[m.key] = m
	}
	return o, true
}

// members returns the members of n, which must be an object, each key once and without those to skip.
func (c *checker) members(n *node, path string, skip func(key string) bool) ([]member, bool) {
	if n.kind != kindObject {
		c.fault(n.at, path, "want an object, got "+n.got(true), "")
		return nil, false
	}
	first := make(map[string]position, len(n.members))
	members := make([]member, 0, len(n.members))
	for _, m := range n.members {
		at, twice := first[m.key]
		switch {
		case skip(m.key):
		case twice:
			c.fault(m.at, join(path, m.key), fmt.Sprintf("want each key once, got it on line %d and again on line %d", at.line, m.at.line), "")
		default:
			first[m.key] = m.at
			members = append(members, m)
		}
	}
	return members, true
}

// ignored says which keys are comments.
func ignored(key string) bool {
	return strings.HasPrefix(key, "_") || key == "$schema"
}

// done reports the keys that nobody asked for. Foreign may name the key that another client's key stands for.
func (o *object) done(foreign func(key string) string) {
	known := make(map[string]bool, len(o.known))
	for _, key := range o.known {
		known[key] = true
	}
	for _, m := range o.order {
		if known[m.key] {
			continue
		}
		hint := foreign(m.key)
		if hint == "" {
			hint = didYouMean(m.key, o.known)
		}
		if hint == "" {
			hint = "known are " + strings.Join(o.known, ", ")
		}
		o.c.fault(m.at, join(o.path, m.key), "want a known key, got "+quote(m.key), hint)
	}
}

func (o *object) has(key string) bool {
	_, ok := o.members[key]
	return ok
}

// take asks for a key.
func (o *object) take(key string) (n *node, path string, ok bool) {
	o.known = append(o.known, key)
	m, ok := o.members[key]
	return m.value, join(o.path, key), ok
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
func (o *object) choiceOf(n *node, path string, options ...string) (value, bool) {
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

// flag reads a boolean into b.
func (o *object) flag(key string, b *bool) {
	n, path, ok := o.take(key)
	switch {
	case !ok:
	case n.kind == kindBool:
		*b = n.text == "true"
	default:
		o.c.fault(n.at, path, "want true or false, got "+n.got(false), "")
	}
}

// count reads a whole number into count.
func (o *object) count(field reflect.StructField, count *int) {
	n, path, ok := o.take(field.Tag.Get("key"))
	if !ok {
		return
	}
	least, most, of := bounds(field)
	switch {
	case n.kind == kindNumber && n.number >= float64(least) && n.number <= float64(most) && n.number == math.Trunc(n.number):
		*count = int(n.number)
	default:
		o.c.fault(n.at, path, fmt.Sprintf("want a whole number of %s from %d to %d, got %s", of, least, most, n.got(false)), "")
	}
}

// duration reads a duration into d: a string such as "30s" or a number of seconds.
func (o *object) duration(field reflect.StructField, d *time.Duration) {
	n, path, ok := o.take(field.Tag.Get("key"))
	if !ok {
		return
	}
	least, most := span(field)
	want, example := fmt.Sprintf("want a duration from %v to %.0fh", least, most.Hours()), "30s"
	if least > time.Hour {
		want, example = fmt.Sprintf("want a duration from %.0fh to %.0fh", least.Hours(), most.Hours()), "720h"
	}
	want += fmt.Sprintf(" such as %q, or a number of seconds", example)
	switch {
	case n.kind == kindNumber:
		// Compared as a number: what is absurd may not fit a duration, and NaN is out of every range.
		if ns := n.number * float64(time.Second); ns >= float64(least) && ns <= float64(most) {
			*d = time.Duration(math.Round(ns))
			return
		}
		o.c.fault(n.at, path, want+", got "+n.got(false), "")
	case n.kind == kindString:
		v, ok := o.c.text(n, path, false)
		if !ok {
			return
		}
		parsed, err := time.ParseDuration(v.text)
		if err != nil || parsed < least || parsed > most {
			o.c.reject(v, want, "")
			return
		}
		*d = parsed
	default:
		o.c.fault(n.at, path, want+", got "+n.got(false), "")
	}
}

// list reads an array of strings.
func (o *object) list(key string, secret bool) []value {
	n, path, ok := o.take(key)
	if !ok {
		return nil
	}
	return o.c.list(n, path, secret)
}

// pair is one member of an object with free keys.
type pair struct {
	key string
	at  position
	value
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
		at := join(path, m.key)
		v, ok := o.c.text(m.value, at, true)
		if !ok {
			v = value{path: at, node: m.value, secret: true} // Its key is still to be checked.
		}
		pairs = append(pairs, pair{m.key, m.at, v})
	}
	return pairs
}
