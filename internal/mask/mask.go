// Package mask takes secrets out of what is kept of calls: the values that a [Set] was told, and what looks like a
// secret whoever's it is, such as a token with the prefix of a well-known issuer or the value of a member named
// password.
//
// What is masked stays what it was otherwise: JSON stays valid JSON.
package mask

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// Masked stands for what looks like a secret.
const Masked = "[masked]"

// Least is how long a value is at least that is looked for in what others say: a short one occurs by chance.
const Least = 6

// maxValues is how many values a set has at most; the oldest give way.
const maxValues = 4096

// Set has the secrets of a process. The zero Set has none; a nil one masks nothing. Its methods may be called by
// several goroutines.
type Set struct {
	mu       sync.RWMutex
	values   map[string]string // what stands for each
	order    []string
	replacer *strings.Replacer // nil when values have changed
}

// Add has a value masked from now on. It stands as the given text in what is kept. A value of several lines is one of
// each line, which is how programs write a key.
func (s *Set) Add(value, as string) {
	if s == nil {
		return
	}
	s.mu.RLock()
	_, known := s.values[value]
	s.mu.RUnlock()
	if known {
		return
	}
	for line := range strings.Lines(value) {
		if line = strings.TrimSpace(line); len(line) >= Least {
			for _, form := range forms(line) {
				s.add(form, as)
			}
		}
	}
}

// forms are the ways in which a value is written: in JSON, in JSON within JSON, in an address.
func forms(value string) []string {
	all := []string{value}
	add := func(form string) {
		if !slices.Contains(all, form) {
			all = append(all, form)
		}
	}
	for _, escaped := range []func(rune) bool{
		func(rune) bool { return false },
		func(r rune) bool { return strings.ContainsRune("<>&\u2028\u2029", r) }, // as Go's encoding/json
		func(r rune) bool { return r > unicode.MaxASCII },                       // as Python's json
	} {
		add(quoted(value, escaped))
		add(quoted(quoted(value, escaped), escaped))
	}
	for _, plain := range []string{
		"",
		"!'()*", // as JavaScript's encodeURIComponent
		"/",     // as Python's quote
	} {
		add(percent(value, plain))
	}
	add(url.QueryEscape(value))
	add(url.PathEscape(value))
	return all
}

// quoted writes a value as the inside of a JSON string, with \u in place of the letters that are to be escaped.
func quoted(value string, escaped func(rune) bool) string {
	q := wire.AppendQuote(nil, value)
	var b strings.Builder
	for _, r := range string(q[1 : len(q)-1]) {
		switch {
		case !escaped(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// percent writes a value for an address, with %20 for a space; the characters of plain stay as they are.
func percent(value, plain string) string {
	form := strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
	for _, c := range plain {
		form = strings.ReplaceAll(form, url.QueryEscape(string(c)), string(c))
	}
	return form
}

func (s *Set) add(value, as string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.values[value]; ok {
		return
	}
	if s.values == nil {
		s.values = make(map[string]string)
	}
	if len(s.order) == maxValues {
		delete(s.values, s.order[0])
		s.order = s.order[1:]
	}
	s.values[value] = as
	s.order = append(s.order, value)
	s.replacer = nil
}

// replace gives a text without the values of the set.
func (s *Set) replace(text string) string {
	s.mu.RLock()
	r, none := s.replacer, len(s.values) == 0
	s.mu.RUnlock()
	if none {
		return text
	}
	if r == nil {
		r = s.newReplacer()
	}
	return r.Replace(text)
}

// newReplacer makes what replaces all values. Of two that begin alike the longer one is tried first.
func (s *Set) newReplacer() *strings.Replacer {
	s.mu.Lock()
	defer s.mu.Unlock()
	longest := make([]string, 0, len(s.values))
	for value := range s.values {
		longest = append(longest, value)
	}
	sortLongestFirst(longest)
	pairs := make([]string, 0, 2*len(longest))
	for _, value := range longest {
		pairs = append(pairs, value, s.values[value])
	}
	s.replacer = strings.NewReplacer(pairs...)
	return s.replacer
}

// Text gives a text without secrets.
func (s *Set) Text(text string) string {
	if s == nil || text == "" {
		return text
	}
	return withoutTokens(s.replace(text))
}

// JSON gives a JSON value without secrets, and reports whether there were any. What it returns may be raw itself.
func (s *Set) JSON(raw []byte) (clean []byte, masked bool) {
	if s == nil {
		return raw, false
	}
	return s.json(raw, 0)
}

// maxNested is how deep JSON is looked into that stands in texts of JSON.
const maxNested = 3

// textOrJSON gives a text without secrets, where it is a JSON value as one.
func (s *Set) textOrJSON(text string, depth int) string {
	if trimmed := strings.TrimLeft(text, " \t\r\n"); depth < maxNested && len(trimmed) > 1 && (trimmed[0] == '{' || trimmed[0] == '[') {
		if raw := []byte(text); wire.Valid(raw) {
			clean, _ := s.json(raw, depth+1)
			text = string(clean)
		}
	}
	return s.Text(text)
}

func (s *Set) json(raw []byte, depth int) (clean []byte, masked bool) {
	var out []byte
	kept := 0 // raw is in out up to here
	put := func(from, to int, text string) {
		out = wire.AppendQuote(append(out, raw[kept:from]...), text)
		kept = to
	}
	secret := false // the next value is that of a member whose name says so
	for i := 0; i < len(raw); {
		c := raw[i]
		switch {
		case c == '"':
			end := wire.ValueEnd(raw, i)
			text, ok := wire.Unquote(raw[i:end])
			isKey := next(raw, end) == ':'
			switch clean := s.textOrJSON(text, depth); {
			case !ok:
			case secret && !isKey && text != "":
				put(i, end, Masked)
			case clean != text:
				put(i, end, clean)
			}
			secret = isKey && IsSecretMember(text)
			i = end
		case c == '-' || '0' <= c && c <= '9':
			end := i + 1
			for end < len(raw) && bytes.IndexByte([]byte("0123456789+-.eE"), raw[end]) >= 0 {
				end++
			}
			if number := string(raw[i:end]); secret {
				put(i, end, Masked)
			} else if clean := s.replace(number); clean != number {
				put(i, end, clean)
			}
			secret = false
			i = end
		default:
			if c == '{' || c == '[' || c == ',' {
				secret = false
			}
			i++
		}
	}
	if out == nil {
		return raw, false
	}
	return append(out, raw[kept:]...), true
}

// next is the byte after the white space that begins at i; 0 at the end.
func next(raw []byte, i int) byte {
	if rest := bytes.TrimLeft(raw[i:], " \t\r\n"); len(rest) > 0 {
		return rest[0]
	}
	return 0
}
