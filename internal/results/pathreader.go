package results

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// pathReader reads the text of a path.
type pathReader struct {
	text string
	i    int
}

func (r *pathReader) fault(want string) error {
	return fmt.Errorf("path: at character %d want %s; paths are those of JSONPath, as $.items[0:10].name, $..id or $.items[?@.state=='open'].title", r.i+1, want)
}

func (r *pathReader) space() {
	for r.i < len(r.text) && (r.text[r.i] == ' ' || r.text[r.i] == '\t' || r.text[r.i] == '\n') {
		r.i++
	}
}

// eat takes what comes next if it is that.
func (r *pathReader) eat(what string) bool {
	if strings.HasPrefix(r.text[r.i:], what) {
		r.i += len(what)
		return true
	}
	return false
}

// path reads the whole text.
func (r *pathReader) path() (path, error) {
	r.space()
	if !r.eat("$") && !strings.HasPrefix(r.text[r.i:], ".") && !strings.HasPrefix(r.text[r.i:], "[") {
		return nil, r.fault("$")
	}
	p, err := r.segments()
	if err != nil {
		return nil, err
	}
	if r.space(); r.i < len(r.text) {
		return nil, r.fault("a dot, a bracket or the end")
	}
	return p, nil
}

func (r *pathReader) segments() (p path, err error) {
	for {
		if r.space(); r.i == len(r.text) {
			return p, nil
		}
		var s segment
		switch {
		case r.eat(".."):
			s.deep = true
			if r.eat("[") {
				s.picks, err = r.bracket()
			} else {
				s.picks, err = r.member()
			}
		case r.eat(".["), r.eat("["): // jq has the first
			s.picks, err = r.bracket()
		case r.text == ".": // the dot of jq, which is all
			r.i++
			return p, nil
		case r.eat("."):
			s.picks, err = r.member()
		default:
			return p, nil
		}
		if err != nil {
			return nil, err
		}
		p = append(p, s)
	}
}

// member reads a name or *, behind a dot.
func (r *pathReader) member() ([]pick, error) {
	if r.eat("*") {
		return []pick{{all: true}}, nil
	}
	if r.i < len(r.text) && r.text[r.i] == '"' {
		name, err := r.quoted()
		return []pick{{name: &name}}, err
	}
	n := strings.IndexAny(r.text[r.i:], ".[]()=!<>&|, '\"?@*\t\n")
	if n < 0 {
		n = len(r.text) - r.i
	}
	if n == 0 {
		return nil, r.fault("a name")
	}
	name := r.text[r.i : r.i+n]
	r.i += n
	return []pick{{name: &name}}, nil
}

// bracket reads what stands in brackets, behind the first of them.
func (r *pathReader) bracket() (picks []pick, err error) {
	if r.space(); r.eat("]") {
		return []pick{{all: true}}, nil // as jq has it
	}
	for {
		r.space()
		var pk pick
		switch {
		case r.eat("*"):
			pk.all = true
		case r.eat("?"):
			pk.filter, err = r.filter()
		case r.i < len(r.text) && (r.text[r.i] == '\'' || r.text[r.i] == '"'):
			var name string
			name, err = r.quoted()
			pk.name = &name
		default:
			pk, err = r.slice()
		}
		if err != nil {
			return nil, err
		}
		picks = append(picks, pk)
		r.space()
		switch {
		case r.eat("]"):
			return picks, nil
		case !r.eat(","):
			return nil, r.fault("a comma or ]")
		}
	}
}

func (r *pathReader) quoted() (string, error) {
	quote := r.text[r.i]
	var token []byte // as JSON has it, where a quotation mark is written with a backslash
	for i := r.i + 1; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case c == quote:
			text, ok := wire.Unquote(append(append([]byte{'"'}, token...), '"'))
			if !ok {
				return "", r.fault("a string whose escapes are those of JSON")
			}
			r.i = i + 1
			return text, nil
		case c == '\\' && i+1 < len(r.text):
			if i++; r.text[i] != '\'' {
				token = append(token, c)
			}
			token = append(token, r.text[i])
		case c == '"', c < ' ':
			quoted := wire.AppendQuote(nil, string(c))
			token = append(token, quoted[1:len(quoted)-1]...)
		default:
			token = append(token, c)
		}
	}
	return "", r.fault("the end of a quotation")
}

// slice reads an index or from:to:step.
func (r *pathReader) slice() (pick, error) {
	parts := []int{0, math.MaxInt, 1}
	given := 0
	for n := 0; ; {
		r.space()
		end := r.i
		for end < len(r.text) && (r.text[end] >= '0' && r.text[end] <= '9' || r.text[end] == '-' && end == r.i) {
			end++
		}
		if end > r.i {
			v, err := strconv.Atoi(r.text[r.i:end])
			if err != nil || v > math.MaxInt32 || v < math.MinInt32 {
				return pick{}, r.fault("a smaller number")
			}
			parts[n], r.i = v, end
			given++
		}
		if r.space(); n == 2 || !r.eat(":") {
			switch {
			case n == 0 && given == 0:
				return pick{}, r.fault("an index, a name in quotation marks, *, or ? and a filter")
			case n == 0:
				return pick{from: parts[0], to: parts[0] + 1, step: 1}, nil
			case parts[2] < 1:
				return pick{}, r.fault("a step from 1")
			}
			return pick{from: parts[0], to: parts[1], step: parts[2]}, nil
		}
		n++
	}
}

// filter reads @.a == 'x' && (@.b || …) || …
func (r *pathReader) filter() (alternatives [][]test, err error) {
	tests := []test{}
	for {
		t, err := r.test()
		if err != nil {
			return nil, err
		}
		tests = append(tests, t)
		switch r.space(); {
		case r.eat("&&"):
		case r.eat("||"):
			alternatives, tests = append(alternatives, tests), nil
		default:
			return append(alternatives, tests), nil
		}
	}
}

func (r *pathReader) test() (t test, err error) {
	r.space()
	t.not = r.eat("!")
	if r.space(); r.eat("(") {
		if t.inner, err = r.filter(); err == nil && !r.eat(")") {
			err = r.fault(") or && or ||")
		}
		return t, err
	}
	if t.left, err = r.operand(); err != nil {
		return t, err
	}
	r.space()
	for _, op := range []string{"==", "!=", "<=", ">=", "<", ">"} {
		if r.eat(op) {
			t.op = op
			t.right, err = r.operand()
			return t, err
		}
	}
	if t.left.literal != nil {
		return t, r.fault("a comparison")
	}
	return t, nil
}

// operand reads a path from @ or $, or a literal.
func (r *pathReader) operand() (o operand, err error) {
	r.space()
	if o.root = r.eat("$"); o.root || r.eat("@") {
		o.at, err = r.segments()
		return o, err
	}
	if r.i < len(r.text) && (r.text[r.i] == '\'' || r.text[r.i] == '"') {
		text, err := r.quoted()
		return operand{literal: wire.AppendQuote(nil, text)}, err
	}
	n := strings.IndexAny(r.text[r.i:], " )]&|,=!<>")
	if n < 0 {
		n = len(r.text) - r.i
	}
	token := []byte(r.text[r.i : r.i+n])
	if _, isNumber := readNumber(token); !isNumber && !slices.Contains([]string{"true", "false", "null"}, string(token)) {
		return o, r.fault("@, $, a string, a number, true, false or null")
	}
	r.i += n
	return operand{literal: token}, nil
}
