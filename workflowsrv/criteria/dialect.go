package criteria

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/mcp-workbench/workbench/internal/cut"
)

// flags are the JavaScript flags that change what a pattern matches.
type flags struct {
	ignoreCase, multiline, dotAll, sticky bool
}

func parseFlags(s string) (flags, error) {
	var f flags
	for i, c := range s {
		if strings.ContainsRune(s[:i], c) {
			return f, fmt.Errorf("regex flag %q is given twice", c)
		}
		if !strings.ContainsRune("dgimsuy", c) { // d and g say what a match reports; u is how every pattern is read here.
			return f, fmt.Errorf("regex flag %q is not one of d g i m s u y", c)
		}
	}
	f.sticky = strings.Contains(s, "y")
	return f.modify(s, true), nil
}

// leadingFlags cuts groups such as (?i) or (?ms) off the start of a pattern.
func leadingFlags(source string) (rest, inline string) {
	for strings.HasPrefix(source, "(?") {
		end := strings.IndexByte(source, ')')
		if end < 3 || strings.Trim(source[2:end], "imsu") != "" {
			break
		}
		inline += source[2:end]
		source = source[end+1:]
	}
	return source, inline
}

const (
	lineEnds    = `\n\r\u2028\u2029`
	startOfLine = `(?<![^` + lineEnds + `])`
	endOfLine   = `(?![^` + lineEnds + `])`

	// The words of JavaScript have the letters of ASCII only.
	letters   = `[0-9A-Za-z_]`
	atWord    = `(?:(?<=` + letters + `)(?!` + letters + `)|(?<!` + letters + `)(?=` + letters + `))`
	notAtWord = `(?:(?<=` + letters + `)(?=` + letters + `)|(?<!` + letters + `)(?!` + letters + `))`
)

// translate writes an ECMAScript pattern in the words of regexp2, whose own ECMAScript mode differs: its . ^ $ do not
// know all line ends, and it reads the constructs of .NET (balancing groups, conditionals, comments, \A \z, class
// subtraction), which JavaScript either rejects or takes literally.
func translate(source string, f flags) (string, error) {
	t := &translator{in: []rune(source), groups: []flags{f}}
	for t.pos < len(t.in) {
		if err := t.next(); err != nil {
			return "", err
		}
	}
	if len(t.groups) > 1 {
		return "", errors.New("a group is not closed")
	}
	if f.sticky {
		return `\A(?:` + t.out.String() + `)`, nil
	}
	return t.out.String(), nil
}

type translator struct {
	in     []rune
	pos    int
	out    strings.Builder
	groups []flags // of the open groups, outermost first; the first is the pattern itself
}

func (t *translator) flags() flags { return t.groups[len(t.groups)-1] }

func (t *translator) next() error {
	c := t.in[t.pos]
	t.pos++
	switch c {
	case '\\':
		return t.escape(false)
	case '[':
		return t.class()
	case '(':
		return t.group()
	case ')':
		if len(t.groups) == 1 {
			return errors.New("a ) closes nothing")
		}
		t.groups = t.groups[:len(t.groups)-1]
		t.out.WriteRune(c)
	case '.':
		t.out.WriteString(pick(t.flags().dotAll, `[\s\S]`, `[^`+lineEnds+`]`))
	case '^':
		t.out.WriteString(pick(t.flags().multiline, startOfLine, `\A`))
	case '$':
		t.out.WriteString(pick(t.flags().multiline, endOfLine, `\z`))
	default:
		t.out.WriteRune(c)
	}
	return nil
}

func pick(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

// group translates what opens a group, whose ( has been read.
func (t *translator) group() error {
	t.out.WriteByte('(')
	f := t.flags()
	rest := string(t.in[t.pos:min(len(t.in), t.pos+maxGroupOpen)])
	if strings.HasPrefix(rest, "?") {
		open, modified, ok := groupOpen(rest, f)
		if !ok {
			return fmt.Errorf("(%s is not ECMAScript; flags such as (?i) are allowed only at the start, a named group is (?<name>…)", cut.After(rest, 4))
		}
		t.pos += len(open)
		if modified != nil {
			f, open = *modified, pick(modified.ignoreCase, "?i:", "?-i:")
		}
		t.out.WriteString(open)
	}
	t.groups = append(t.groups, f)
	return nil
}

// maxGroupOpen bounds what opens a group, that is the name of one.
const maxGroupOpen = 64

// groupOpen cuts off what opens a group: an assertion, a plain group, a name, or modifiers, with the flags they give.
func groupOpen(rest string, f flags) (open string, modified *flags, ok bool) {
	for _, open := range []string{"?:", "?=", "?!", "?<=", "?<!"} {
		if strings.HasPrefix(rest, open) {
			return open, nil, true
		}
	}
	if name, _, ok := strings.Cut(rest, ">"); ok && strings.HasPrefix(name, "?<") {
		letters := name[len("?<"):]
		word := strings.IndexFunc(letters, func(c rune) bool { return !isWord(c) }) < 0
		return name + ">", nil, word && letters != "" && letters[0] > '9'
	}
	letters, _, ok := strings.Cut(rest, ":")
	on, off, _ := strings.Cut(letters[1:], "-")
	if !ok || strings.Trim(on+off, "ims") != "" {
		return "", nil, false
	}
	f = f.modify(on, true).modify(off, false)
	return letters + ":", &f, true
}

func (f flags) modify(letters string, on bool) flags {
	for _, c := range letters {
		switch c {
		case 'i':
			f.ignoreCase = on
		case 'm':
			f.multiline = on
		case 's':
			f.dotAll = on
		}
	}
	return f
}

// class translates a character class, whose [ has been read.
func (t *translator) class() error {
	t.out.WriteByte('[')
	if t.pos < len(t.in) && t.in[t.pos] == '^' {
		t.pos++
		t.out.WriteByte('^')
	}
	for t.pos < len(t.in) {
		c := t.in[t.pos]
		t.pos++
		switch {
		case c == ']':
			t.out.WriteByte(']')
			return nil
		case c == '\\':
			if err := t.escape(true); err != nil {
				return err
			}
		case c == '[', c == '-' && t.classEscapeNext():
			t.out.WriteByte('\\')
			t.out.WriteRune(c)
		default:
			t.out.WriteRune(c)
		}
	}
	return errors.New("a [ is not closed")
}

// classEscapeNext reports whether a \d, \w, \s or \p follows: a hyphen before it is a hyphen, not a range.
func (t *translator) classEscapeNext() bool {
	return t.pos+1 < len(t.in) && t.in[t.pos] == '\\' && strings.ContainsRune("dDwWsSpP", t.in[t.pos+1])
}

// escape translates what follows a backslash, in a class or out of it.
func (t *translator) escape(inClass bool) error {
	if t.pos == len(t.in) {
		return errors.New(`there is a \ at the end`)
	}
	c := t.in[t.pos]
	t.pos++
	switch {
	case c == 'u' || c == 'x' || c == 'c':
		t.codePoint(c)
	case c == 'b' && !inClass:
		t.out.WriteString(atWord)
	case c == 'B' && !inClass:
		t.out.WriteString(notAtWord)
	case (c == 'p' || c == 'P') && (t.pos == len(t.in) || t.in[t.pos] != '{'):
		t.literal(c) // a letter like others, where no property is named
	case strings.ContainsRune("bBdDwWsSpPkfnrtv", c), c >= '0' && c <= '9':
		t.out.WriteByte('\\')
		t.out.WriteRune(c)
	default:
		t.literal(c)
	}
	return nil
}

// codePoint translates \uHHHH (pairs of surrogates included), \u{H…}, \xHH and \cX; anything else after u or x makes
// the letter stand for itself, and after c the backslash too.
func (t *translator) codePoint(kind rune) {
	var r rune
	ok := false
	switch kind {
	case 'c':
		if ok = t.pos < len(t.in) && isLetter(t.in[t.pos]); ok {
			r = t.in[t.pos] % 32
			t.pos++
		} else {
			t.literal('\\')
		}
	case 'x':
		r, ok = t.hex("", 2, "")
	case 'u':
		if r, ok = t.hex("", 4, ""); utf16.IsSurrogate(r) {
			if low, paired := t.hex(`\u`, 4, ""); paired {
				r = utf16.DecodeRune(r, low)
			}
		}
		for n := 1; n <= 6 && !ok; n++ {
			r, ok = t.hex("{", n, "}")
		}
	}
	if !ok {
		r = kind
	}
	t.literal(r)
}

// hex reads n hexadecimal digits between two texts.
func (t *translator) hex(before string, n int, after string) (rune, bool) {
	end := t.pos + len(before) + n + len(after)
	if end > len(t.in) {
		return 0, false
	}
	text := string(t.in[t.pos:end])
	digits, ok := strings.CutPrefix(text, before)
	digits, closed := strings.CutSuffix(digits, after)
	v, err := strconv.ParseUint(digits, 16, 32)
	if !ok || !closed || err != nil {
		return 0, false
	}
	t.pos = end
	return rune(v), true
}

// literal writes a character that stands for itself, in a class or out of it.
func (t *translator) literal(c rune) {
	switch {
	case c < 0x80 && !isWord(c):
		fmt.Fprintf(&t.out, `\x%02x`, c)
	case c >= 0xd800 && c <= 0xdfff:
		fmt.Fprintf(&t.out, `\u%04x`, c)
	default:
		t.out.WriteRune(c)
	}
}

func isWord(c rune) bool { return c == '_' || c >= '0' && c <= '9' || isLetter(c) }

func isLetter(c rune) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
