package wire

import (
	"bytes"
	"fmt"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Find looks up members of the object at in by their exact names: out[i] receives the span of the value of keys[i], or
// the zero Span where there is none. out is as long as keys.
//
// raw has been accepted by [Scan], and in is a span Scan or this package found in it; of other bytes Find promises only
// to return.
//
// A wanted member that appears twice, or under a name another decoder would take for it (Unicode simple case folding,
// as encoding/json does it), is an [*Error] with [CodeInvalidParams]; so is a value that is no object. Names are
// compared as decoded, so escapes hide nothing.
func Find(raw []byte, in Span, keys []string, out []Span) error {
	clear(out)
	if !isObject(raw, in) {
		return &Error{Code: CodeInvalidParams, Message: "value is not an object"}
	}
	for key, val := range Members(raw, in) {
		name := raw[key.Start+1 : key.End-1]
		for i, want := range keys {
			switch compareKey(name, want) {
			case keyEqual:
				if out[i].Present() {
					return &Error{Code: CodeInvalidParams, Message: fmt.Sprintf("duplicate member %q", want)}
				}
				out[i] = val
			case keyFolds:
				return &Error{Code: CodeInvalidParams, Message: fmt.Sprintf("member names are case-sensitive: %q", want)}
			}
		}
	}
	return nil
}

// FindPath follows member names from the object at in, as in FindPath(raw, m.Params, "_meta", "progressToken"). The
// result is absent where a name is missing or leads into something that is no object. Errors are those of [Find].
func FindPath(raw []byte, in Span, path ...string) (Span, error) {
	var out [1]Span
	for i := range path {
		if !isObject(raw, in) {
			return Span{}, nil
		}
		if err := Find(raw, in, path[i:i+1], out[:]); err != nil {
			return Span{}, err
		}
		in = out[0]
	}
	return in, nil
}

func isObject(raw []byte, in Span) bool { return in.Present() && raw[in.Start] == '{' }

// Members yields the members of the object at in, in order: the token of the name, quotes included, and the value.
// Where in is no object it yields nothing. raw is as in [Find].
func Members(raw []byte, in Span) iter.Seq2[Span, Span] {
	return func(yield func(Span, Span) bool) {
		if !isObject(raw, in) {
			return
		}
		b := raw[:in.End]
		for i := space(b, in.Start+1); i < len(b) && b[i] == '"'; {
			end := skip(b, i)
			name := Span{i, end}
			i = space(b, end) + 1 // the colon
			i = space(b, i)
			end = skip(b, i)
			if end <= i || !yield(name, Span{i, end}) {
				return
			}
			i = space(b, end) + 1 // the comma or the brace
			i = space(b, i)
		}
	}
}

// Elements yields the elements of the array at in, in order. Where in is no array it yields nothing. raw is as in
// [Find].
func Elements(raw []byte, in Span) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		if !in.Present() || raw[in.Start] != '[' {
			return
		}
		b := raw[:in.End]
		for i := space(b, in.Start+1); i < len(b) && b[i] != ']'; {
			end := skip(b, i)
			if end <= i || !yield(Span{i, end}) {
				return
			}
			i = space(b, end) + 1 // the comma or the bracket
			i = space(b, i)
		}
	}
}

// Children yields the values in the object or array that begins at start, in order, each with the token of its name,
// which is absent in an array, and where the value begins. It looks for the end of a value only when the next one is
// wanted, and not if whoever got the value has found it, as [Children] of that value do, and has put it at *end. When
// there are no more values, *end is where the object or array itself ends. What begins at start is valid JSON, as in
// [Find].
func Children(raw []byte, start int, end *int) iter.Seq2[Span, int] {
	return func(yield func(Span, int) bool) {
		if start >= len(raw) || raw[start] != '{' && raw[start] != '[' {
			return
		}
		i := space(raw, start+1)
		for i < len(raw) && raw[i] != ']' && raw[i] != '}' {
			var name Span
			if raw[start] == '{' {
				name = Span{i, skip(raw, i)}
				i = space(raw, min(space(raw, name.End)+1, len(raw))) // behind the colon
			}
			*end = 0
			if i >= len(raw) || !yield(name, i) {
				return
			}
			if *end == 0 {
				*end = skip(raw, i)
			}
			if *end <= i {
				return
			}
			if i = space(raw, *end); i < len(raw) && raw[i] == ',' {
				i = space(raw, i+1)
			}
		}
		*end = min(i+1, len(raw))
	}
}

// ValueEnd returns where the value ends that begins at start in valid JSON.
func ValueEnd(raw []byte, start int) int { return skip(raw, start) }

// skip returns where the value at i ends. It trusts b to be valid JSON: in other bytes it finds some end, i at the
// least.
func skip(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = skipText(b, i+1)
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
		case ',', ':', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
			i++
			continue
		default:
			for i++; i < len(b) && isScalar(b[i]); i++ {
			}
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

// isScalar reports whether c can go on a number or a literal.
func isScalar(c byte) bool {
	return c > ' ' && c != ',' && c != ']' && c != '}'
}

// skipText returns where the string ends whose text begins at i.
func skipText(b []byte, i int) int {
	start := i
	for {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b)
		}
		i += n + 1
		slashes := i - 2
		for slashes >= start && b[slashes] == '\\' {
			slashes--
		}
		if (i-slashes)%2 == 0 { // an even number of backslashes before the quote
			return i
		}
	}
}

// How a member name in a message compares with a wanted one.
type likeness uint8

const (
	keyDiffers likeness = iota
	keyFolds            // differs, but only in case
	keyEqual
)

// compareKey compares the text between the quotes of a member name with want, as decoded.
func compareKey(name []byte, want string) likeness {
	if string(name) == want && strings.IndexByte(want, '\\') < 0 {
		return keyEqual
	}
	if len(name) > 0 && len(want) > 0 && plainlyDiffer(name[0], want[0]) {
		return keyDiffers
	}
	like := keyEqual
	for i := 0; i < len(name); {
		if want == "" {
			return keyDiffers
		}
		w, wn := utf8.DecodeRuneInString(want)
		r, n := decode(name, i)
		if r != w {
			if fold(r) != fold(w) {
				return keyDiffers
			}
			like = keyFolds
		}
		i += n
		want = want[wn:]
	}
	if want != "" {
		return keyDiffers
	}
	return like
}

// plainlyDiffer reports whether two bytes are different ASCII characters in whatever case, of which the first begins no
// escape.
func plainlyDiffer(a, b byte) bool {
	return a|b < utf8.RuneSelf && a != '\\' && a|0x20 != b|0x20
}

// fold returns the smallest rune that differs from r only in case.
func fold(r rune) rune {
	if r < utf8.RuneSelf && !('a' <= r && r <= 'z') {
		return r
	}
	for {
		next := unicode.SimpleFold(r)
		if next <= r {
			return next
		}
		r = next
	}
}

// Whole is all of raw.
func Whole(raw []byte) Span { return Span{Start: 0, End: len(raw)} }
