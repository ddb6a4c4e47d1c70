package command

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// A pair is a value that a text gives to a name: name=value or name: value.
type pair struct {
	name, value string
	after       string // what follows the name, up to the next one
	start       int    // where the name begins
	joined      bool   // a word that joins it to the next one was taken off its end
}

// findPairs finds what a text gives to names. A value reaches to the next of the names, or to the end of the text; in
// quotes nothing is a name. A name that comes again, or right behind another one, is part of a value. The names may be
// written with blanks.
func findPairs(text string, names []string) []pair {
	longest := slices.SortedFunc(slices.Values(names), func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	var list []pair
	from := 0 // where the value of the last pair begins
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"', '\'':
			if len(list) > 0 && strings.Trim(text[from:i], space) == "" {
				if end := strings.IndexByte(text[i+1:], text[i]); end >= 0 {
					i += end + 1
				}
			}
		case '=', ':':
			name, start := nameBefore(text[:i], longest)
			known := slices.ContainsFunc(list, func(p pair) bool { return p.name == name })
			if name == "" || known || start < from || len(list) > 0 && strings.Trim(text[from:start], space) == "" {
				continue
			}
			list, from = append(list, pair{name: name, start: start}), i+1
			if n := len(list); n > 1 {
				list[n-2].after = text[len(text)-len(list[n-2].after) : start]
			}
			list[len(list)-1].after = text[from:]
		}
	}
	for i := range list {
		p := &list[i]
		p.value = strings.Trim(p.after, space)
		if i+1 < len(list) {
			p.value = strings.TrimRight(p.value, ",;"+space)
			for _, word := range []string{" and", ", then", " then"} {
				if body, ok := strings.CutSuffix(p.value, word); ok && unquoted(p.value) == p.value {
					p.value, p.joined = strings.TrimRight(body, ",;"+space), true
				}
			}
		}
		p.value = unquoted(p.value)
	}
	return slices.DeleteFunc(list, func(p pair) bool { return p.value == "" && strings.Trim(p.after, space) == "" })
}

// nameBefore finds the first of the names that a text ends with, and where it begins.
func nameBefore(text string, names []string) (name string, start int) {
	text = strings.TrimRight(text, " ")
	for _, name := range names {
		for _, written := range []string{name, spaced(name)} {
			start := len(text) - len(written)
			if written == "" || start < 0 || !strings.EqualFold(text[start:], written) {
				continue
			}
			before, _ := utf8.DecodeLastRuneInString(text[:start])
			if start == 0 || unicode.IsSpace(before) || strings.ContainsRune(",;(", before) {
				return name, start
			}
		}
	}
	return "", 0
}

// unquoted takes the quotes off a text that stands in one pair of them.
func unquoted(text string) string {
	text = strings.Trim(text, space)
	if n := len(text); n >= 2 && (text[0] == '"' || text[0] == '\'') && strings.IndexByte(text[1:], text[0]) == n-2 {
		return text[1 : n-1]
	}
	return text
}

// pairs takes name=value and name: value and returns the text without them. What is more than a number, a member of an
// enum or a pattern is cut to it.
func (x *extraction) pairs(text string) string {
	found := findPairs(text, x.c.paramNames())
	if len(found) == 0 {
		return strings.Trim(text, space)
	}
	rest := text[:found[0].start]
	for _, p := range found {
		param := x.c.Param(p.name)
		value := p.value
		if !param.fits(value, &x.matching) {
			if first, more := firstValue(strings.TrimLeft(p.after, space)); param.fits(first, &x.matching) {
				value, x.cut = first, true
				rest += more
			}
		}
		x.cut = x.cut || p.joined
		v, err := param.read(x.c.schema, []string{value})
		if err != nil {
			x.problem.invalid(p.name, wire.AppendQuote(nil, value), err.Error())
			continue
		}
		x.args[p.name] = v
	}
	return strings.Trim(rest, space)
}

// fits reports whether a text has the shape that a parameter wants. A parameter without a shape takes every text.
func (p *Param) fits(text string, matching *time.Duration) bool {
	if enum := enumTexts(p.schema); len(enum) > 0 {
		return slices.Contains(enum, text)
	}
	fits := p.shape(matching)
	if fits == nil {
		return true
	}
	fit, err := fits(text)
	return fit && err == nil
}

// firstValue takes a quoted text or a word off the front.
func firstValue(text string) (value, rest string) {
	if text == "" {
		return "", ""
	}
	if quote := text[0]; quote == '"' || quote == '\'' {
		if body, rest, ok := strings.Cut(text[1:], string(quote)); ok {
			return body, rest
		}
	}
	end := strings.IndexAny(text, space+",;")
	if end < 0 {
		return text, ""
	}
	return text[:end], text[end:]
}
