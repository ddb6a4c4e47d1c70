package results

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// A path is a JSONPath (RFC 9535) without functions. It is walked over the bytes, and never decodes more than what a
// filter compares. Paths of jq that say the same, as .items[].title, are understood.
type path []segment

// segment is one step of a path.
type segment struct {
	deep  bool // of all descendants
	picks []pick
}

// pick selects children of a value.
type pick struct {
	name     *string
	all      bool
	from, to int // a slice; an index n is n to n+1
	step     int // 0 if this is no slice
	filter   [][]test
}

// test is a part of a filter: a comparison of two operands, or another filter in parentheses.
type test struct {
	left, right operand
	op          string // "" asks whether left is there
	not         bool
	inner       [][]test
}

// operand is a literal as JSON has it, or what a path leads to from the value that is tested, or from the whole.
type operand struct {
	literal []byte // nil for a path
	root    bool
	at      path
}

// follow gives a page of what a path leads to.
func (k *kept) follow(text string, page int) (string, []byte, error) {
	if len(text) > maxPattern {
		return "", nil, fmt.Errorf("path takes at most %d bytes", maxPattern)
	}
	r := pathReader{text: text}
	p, err := r.path()
	if err != nil {
		return "", nil, err
	}
	if !k.json {
		return "", nil, errors.New("the result is no JSON: use lines or grep")
	}
	doc, err := k.read(0, k.text)
	if err != nil {
		return "", nil, err
	}
	out := &pager{want: page}
	w := walker{raw: doc, left: maxWalk}
	more := !w.walk(start(doc), p, func(at int) bool {
		value := doc[at:wire.ValueEnd(doc, at)]
		for len(value) > pageLength/2 { // one that may be longer than a page
			n := pageLength / 2
			for n > 1 && !utf8.RuneStart(value[n]) {
				n--
			}
			if !out.add(false, value[:n]) {
				return false
			}
			value = value[n:]
		}
		return out.add(true, value)
	})
	switch {
	case w.left <= 0:
		return "", nil, errors.New("the path visits too much: name more of the members")
	case out.page == 0:
		return "nothing is there; the result is " + shape(doc), nil, nil
	case out.page < page:
		return "", nil, noPage(out.page)
	}
	return out.told("values", more), out.out, nil
}

// A walk may pass that many bytes, and each value counts as some besides its own.
const (
	maxWalk  = 512 << 20
	eachStep = 64
)

// walker follows paths through JSON.
type walker struct {
	raw  []byte
	left int // bytes to pass
}

// walk yields where the values begin that a path leads to from the value at a place; it reports false if it was
// stopped.
func (w *walker) walk(at int, p path, yield func(int) bool) bool {
	if len(p) == 0 {
		return yield(at)
	}
	for _, pk := range p[0].picks {
		if !w.pick(at, pk, func(child int) bool { return w.walk(child, p[1:], yield) }) {
			return false
		}
	}
	if p[0].deep {
		for _, child := range w.children(at) {
			if !w.walk(child, p, yield) {
				return false
			}
		}
	}
	return w.left > 0
}

// children iterates over the values in an object or an array, as long as there are bytes left to pass.
func (w *walker) children(at int) func(func(wire.Span, int) bool) {
	return func(yield func(wire.Span, int) bool) {
		end, last := 0, at
		for name, child := range wire.Children(w.raw, at, &end) {
			w.left -= child - last + eachStep
			if last = child; w.left < 0 || !yield(name, child) {
				return
			}
		}
	}
}

func (w *walker) pick(at int, pk pick, yield func(int) bool) bool {
	isObject := w.raw[at] == '{'
	if pk.step != 0 {
		return isObject || w.slice(at, pk, yield)
	}
	for name, child := range w.children(at) {
		switch {
		case pk.name != nil:
			if isObject && is(w.raw[name.Start:name.End], *pk.name) {
				return yield(child)
			}
		case (pk.all || w.passes(child, pk.filter)) && !yield(child):
			return false
		}
	}
	return w.left > 0
}

func is(token []byte, name string) bool {
	if string(token[1:len(token)-1]) == name {
		return true
	}
	if !slices.Contains(token, '\\') {
		return false
	}
	text, _ := wire.Unquote(token)
	return text == name
}

// slice yields elements from one index to another.
func (w *walker) slice(at int, pk pick, yield func(int) bool) bool {
	if w.raw[at] != '[' {
		return true
	}
	from, to := pk.from, pk.to
	if from < 0 || to < 0 {
		n := 0
		for range w.children(at) {
			n++
		}
		isIndex := to == from+1
		if from < 0 {
			from += n
		}
		switch {
		case isIndex && from < 0: // before the first
			return w.left > 0
		case isIndex:
			to = from + 1
		case to < 0:
			to += n
		}
		from = max(from, 0)
	}
	i := 0
	for _, e := range w.children(at) {
		switch {
		case i >= to:
			return true
		case i >= from && (i-from)%pk.step == 0 && !yield(e):
			return false
		}
		i++
	}
	return w.left > 0
}

// passes reports whether all tests of one alternative hold.
func (w *walker) passes(at int, alternatives [][]test) bool {
	return slices.ContainsFunc(alternatives, func(tests []test) bool {
		return !slices.ContainsFunc(tests, func(t test) bool { return w.holds(at, t) == t.not })
	})
}

func (w *walker) holds(at int, t test) bool {
	if t.inner != nil {
		return w.passes(at, t.inner)
	}
	found := false
	if t.op == "" {
		w.values(at, t.left, func(left []byte) bool {
			found = left != nil
			return false
		})
		return found
	}
	w.values(at, t.left, func(left []byte) bool {
		w.values(at, t.right, func(right []byte) bool {
			found = compare(left, t.op, right)
			return !found
		})
		return !found
	})
	return found
}

// values yields the values of an operand of a comparison, or nil if there is none.
func (w *walker) values(at int, o operand, yield func([]byte) bool) {
	if o.literal != nil {
		yield(o.literal)
		return
	}
	if o.root {
		at = start(w.raw)
	}
	none := true
	w.walk(at, o.at, func(v int) bool {
		none = false
		return yield(w.raw[v:wire.ValueEnd(w.raw, v)])
	})
	if none {
		yield(nil)
	}
}

// maxDigits is how long an integer may be that is compared by all of its digits.
const maxDigits = 100

// number is a number of a path or of a result.
type number struct {
	about float64
	text  string
}

// compare orders two numbers. Integers, which may be ids, are compared by all of their digits.
func (n number) compare(m number) int {
	if order := cmp.Compare(n.about, m.about); order != 0 {
		return order
	}
	if max(len(n.text), len(m.text)) > maxDigits {
		return 0
	}
	a, isInt := new(big.Int).SetString(n.text, 10)
	b, areInts := new(big.Int).SetString(m.text, 10)
	if !isInt || !areInts {
		return 0
	}
	return a.Cmp(b)
}

// compare compares two values as JSON has them; nil is one that is not there, which is equal to another such alone.
func compare(a []byte, op string, b []byte) bool {
	order, ordered, equal := 0, false, bytes.Equal(a, b)
	one, isText := wire.Unquote(a)
	other, areTexts := wire.Unquote(b)
	n, isNumber := readNumber(a)
	m, areNumbers := readNumber(b)
	switch {
	case isText && areTexts:
		order, ordered = strings.Compare(one, other), true
	case isNumber && areNumbers:
		order, ordered = n.compare(m), true
	}
	if ordered {
		equal = order == 0
	}
	switch op {
	case "==":
		return equal
	case "!=":
		return !equal
	case "<":
		return order < 0
	case ">":
		return order > 0
	case "<=":
		return order < 0 || equal
	}
	return order > 0 || equal
}

// readNumber reads a number of JSON.
func readNumber(token []byte) (number, bool) {
	if len(token) == 0 || token[0] != '-' && (token[0] < '0' || token[0] > '9') {
		return number{}, false
	}
	f, err := strconv.ParseFloat(string(token), 64)
	return number{f, string(token)}, err == nil
}
