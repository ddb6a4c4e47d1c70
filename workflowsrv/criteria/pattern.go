package criteria

import (
	"fmt"
	"strings"

	"github.com/dlclark/regexp2"
)

// maxPattern bounds the length of a regular expression, in characters.
const maxPattern = 10_000

// A pattern is a regular expression in the ECMAScript dialect. Its text is code points, as under the flag u.
type pattern struct {
	source string // as written, without leading inline flags
	flags  string // as written, inline flags included
	re     *regexp2.Regexp
}

// compilePattern compiles source with JavaScript flags. Inline flags at the very start, as in (?i)text, count as flags;
// JavaScript has no such thing, but the files in use do.
func compilePattern(source, flags string) (*pattern, error) {
	if n := len([]rune(source)); n > maxPattern {
		return nil, fmt.Errorf("the regular expression has %d characters, at most %d are allowed", n, maxPattern)
	}
	rest, inline := leadingFlags(source)
	for _, f := range inline {
		if !strings.ContainsRune(flags, f) {
			flags += string(f)
		}
	}
	f, err := parseFlags(flags)
	if err != nil {
		return nil, err
	}
	translated, err := translate(rest, f)
	if err != nil {
		return nil, fmt.Errorf("invalid regex pattern in validationCriteria: %s: %w", source, err)
	}
	options := regexp2.RegexOptions(regexp2.ECMAScript | regexp2.Unicode)
	if f.ignoreCase {
		options |= regexp2.IgnoreCase
	}
	re, err := regexp2.Compile(translated, options)
	if err != nil {
		return nil, fmt.Errorf("invalid regex pattern in validationCriteria: %s: %w", source, err)
	}
	setTick()
	re.MatchTimeout = matchTimeout
	return &pattern{source: rest, flags: flags, re: re}, nil
}

func (p *pattern) String() string { return "/" + p.source + "/" + p.flags }

// ignoringCase gives the same pattern with the flag i.
func (p *pattern) ignoringCase() (*pattern, error) {
	if strings.Contains(p.flags, "i") {
		return p, nil
	}
	return compilePattern(p.source, p.flags+"i")
}

// find gives the first match as a range of text, -1 if there is none. The error says that the match took too long, or
// is errSpent or the cause of the meter's context.
func (p *pattern) find(text []rune, m *meter) (start, end int, err error) {
	if err := m.check(); err != nil {
		return -1, -1, err
	}
	match, err := p.re.FindRunesMatch(text)
	switch {
	case err != nil:
		return -1, -1, fmt.Errorf("the match took longer than %d ms and was given up", p.re.MatchTimeout.Milliseconds())
	case match == nil:
		return -1, -1, nil
	}
	return match.Index, match.Index + match.Length, nil
}
