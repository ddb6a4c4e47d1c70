package command

import (
	"encoding/json"
	"errors"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/dlclark/regexp2"
)

// A span is a part of an instruction that one parameter may take.
type span struct {
	text       string
	start, end int // where it stands in the instruction, with what is around it
	used       bool
	doubt      bool // nobody knows whether it has the pattern of a parameter
}

// word is the span as a value: a number that is written as a word in digits. One is left alone, because it is a pronoun
// more often than a number.
func (s span) word() string {
	low := strings.ToLower(s.text)
	if i := slices.Index([]string{"two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}, low); i >= 0 {
		return strconv.Itoa(i + 2)
	}
	return strings.TrimRight(s.text, ".")
}

// extract finds parameters in an instruction without understanding it, from the surest sign to the weakest: name=value
// and name: value; a member of an enum; what has the pattern, the format or the type that only one parameter asks for;
// and, for the one required text that is left, the rest. vocabulary are stems that belong to the command and not to a
// value; nil is none, and then all of the text is values.
func extract(c *Command, text string, vocabulary map[string]bool, at Path) extracted {
	x := &extraction{c: c, args: arguments{}, at: at, vocabulary: vocabulary, problem: &Problem{}}
	rest := x.pairs(text)
	given := len(x.args)
	x.split(rest)
	x.enums(rest)
	x.shapes()
	x.remainder()
	found := extracted{args: x.args, problem: x.problem, whole: !x.cut && (rest == "" || len(x.args) == given+1 && x.isValue(rest))}
	i := slices.IndexFunc(x.spans, func(s span) bool { return !s.used && (s.doubt || isValue(s.text)) })
	if i >= 0 && !slices.ContainsFunc(c.Params, func(p Param) bool { return p.Required && x.wants(&p) && p.takesText() }) {
		found.left = x.spans[i].text
	}
	return found
}

// extracted are the parameters found in an instruction.
type extracted struct {
	args    arguments
	problem *Problem // what was given by its name and cannot be
	// whole says that the values are all there is, as it was written: nothing was left out, and nobody had to tell one
	// value from another.
	whole bool
	// left is a value that no parameter takes, such as a number or a path, or of which nobody knows which one does, ""
	// for none; one that may be a text which is asked for is not left.
	left string
	// borrowed says that a value does not stand in the words, but in an earlier result that they mean.
	borrowed bool
}

// isValue reports whether a text is one of the values, but for its quotes and the case of letters.
func (x *extraction) isValue(text string) bool {
	said := normal(text)
	for _, v := range x.args {
		if normal(plain(v)) == said {
			return true
		}
	}
	return false
}

type extraction struct {
	c          *Command
	args       arguments
	at         Path
	vocabulary map[string]bool
	text       string // the instruction without its pairs
	spans      []span
	matching   time.Duration // spent on patterns
	cut        bool          // a value is less than what was given by its name
	problem    *Problem
}

// hasTag reports whether a text holds a tag of one of the command's parameters.
func hasTag(c *Command, text string) bool {
	return slices.ContainsFunc(c.Params, func(p Param) bool { return strings.Contains(text, "<"+p.Name+">") })
}

// hasPair reports whether a text holds name=value or name: value for one of the command's parameters.
func hasPair(c *Command, text string) bool { return len(findPairs(text, c.paramNames())) > 0 }

// split cuts the rest into words, and what stands in quotes into one.
func (x *extraction) split(text string) {
	x.text = text
	for text = strings.TrimLeft(text, space); text != ""; text = strings.TrimLeft(text, space) {
		start := len(x.text) - len(text)
		if quote := text[0]; quote == '"' || quote == '\'' {
			if body, rest, ok := strings.Cut(text[1:], string(quote)); ok && (rest == "" || !unicode.IsLetter(rune(rest[0]))) {
				x.spans, text = append(x.spans, span{text: body, start: start, end: start + len(body) + 2}), rest
				continue
			}
		}
		end := strings.IndexAny(text, space)
		if end < 0 {
			end = len(text)
		}
		if word := strings.Trim(text[:end], ",;!?()\"'"); word != "" {
			x.spans = append(x.spans, span{text: word, start: start, end: start + end})
		}
		text = text[end:]
	}
}

// take gives a parameter a value, if it can have it.
func (x *extraction) take(p *Param, text string) bool {
	if _, given := x.args[p.Name]; given {
		return false
	}
	v, err := p.read(x.c.schema, []string{text})
	if err != nil {
		return false
	}
	x.args[p.Name] = v
	return true
}

// enums looks for the members of enums, as words.
func (x *extraction) enums(text string) {
	said := " " + normal(text) + " "
	for i := range x.c.Params {
		p := &x.c.Params[i]
		var found []string
		for _, member := range enumTexts(p.schema) {
			if word := normal(member); word != "" && strings.Contains(said, " "+word+" ") {
				found = append(found, member)
			}
		}
		if len(found) != 1 || !x.take(p, found[0]) {
			continue
		}
		for j := range x.spans {
			if strings.Contains(" "+normal(found[0])+" ", " "+normal(x.spans[j].text)+" ") {
				x.spans[j].used = true
			}
		}
	}
}

// shapes gives words to parameters whose pattern, format or type they have, as long as there is one word for one
// parameter, and no doubt about others.
func (x *extraction) shapes() {
	for i := range x.c.Params {
		p := &x.c.Params[i]
		fits := p.shape(&x.matching)
		if fits == nil || !x.wants(p) {
			continue
		}
		found, sure := -1, true
		for j := 0; j < len(x.spans) && sure; j++ {
			if x.spans[j].used {
				continue
			}
			fit, err := fits(x.spans[j].word())
			x.spans[j].doubt = x.spans[j].doubt || err != nil
			if sure = err == nil && (!fit || found < 0); fit {
				found = j
			}
		}
		if !sure {
			continue
		}
		if found >= 0 && !x.contested(p, x.spans[found].word()) && x.take(p, x.spans[found].word()) {
			x.spans[found].used = true
		}
	}
}

// contested reports whether another parameter without a value could have a word as well, by the same right.
func (x *extraction) contested(p *Param, word string) bool {
	return slices.ContainsFunc(x.c.Params, func(other Param) bool {
		fits := other.shape(&x.matching)
		if other.Name == p.Name || fits == nil || !x.wants(&other) {
			return false
		}
		fit, err := fits(word)
		return fit || err != nil
	})
}

// wants reports whether a parameter has no value yet, and gets none from the place.
func (x *extraction) wants(p *Param) bool {
	_, given := x.args[p.Name]
	given = given || x.problem.about(p.Name)
	_, known := x.at.lookup(p.FromContext)
	return !given && (p.FromContext == "" || !known)
}

// patternTime bounds the search for a pattern in one word, and patternsTime that for all patterns in all words of an
// instruction.
const (
	patternTime  = 50 * time.Millisecond
	patternsTime = 500 * time.Millisecond
)

// shape says which words look like values of the parameter; nil if all do. The error says that nobody knows. It adds
// the time it takes to matching.
func (p *Param) shape(matching *time.Duration) func(string) (bool, error) {
	part, _ := p.schema.(map[string]any)
	if pattern, ok := part["pattern"].(string); ok {
		re, err := regexp2.Compile(pattern, regexp2.ECMAScript|regexp2.Unicode)
		if err != nil {
			return nil
		}
		re.MatchTimeout = patternTime
		return func(word string) (bool, error) {
			if *matching > patternsTime {
				return false, errors.New("the time for patterns is spent")
			}
			defer func(start time.Time) { *matching += time.Since(start) }(time.Now())
			m, err := re.FindStringMatch(word)
			return err == nil && m != nil && m.Length == len([]rune(word)), err
		}
	}
	if fits := p.form(part["format"]); fits != nil {
		return func(word string) (bool, error) { return fits(word), nil }
	}
	return nil
}

// form is the shape that the format or the type of a parameter asks for.
func (p *Param) form(format any) func(string) bool {
	switch format {
	case "email":
		return func(word string) bool { a, err := mail.ParseAddress(word); return err == nil && a.Address == word }
	case "uri":
		return func(word string) bool { u, err := url.Parse(word); return err == nil && u.Scheme != "" && u.Host != "" }
	case "date":
		return func(word string) bool { _, err := time.Parse(time.DateOnly, word); return err == nil }
	case "uuid":
		return func(word string) bool {
			return len(word) == 36 && strings.Count(word, "-") == 4 && strings.Trim(strings.ToLower(word), "0123456789abcdef-") == ""
		}
	}
	if slices.Equal(p.Types, []string{"integer"}) || slices.Equal(p.Types, []string{"number"}) {
		return func(word string) bool {
			var n json.Number
			return json.Unmarshal([]byte(word), &n) == nil && (word[0] == '-' || unicode.IsDigit(rune(word[0])))
		}
	}
	return nil
}

// remainder gives the one required text that is left what is left: from the first word on that does not belong to the
// command, up to the end.
func (x *extraction) remainder() {
	var open *Param
	for i := range x.c.Params {
		p := &x.c.Params[i]
		if !x.wants(p) || !p.Required {
			continue
		}
		if open != nil {
			return
		}
		open = p
	}
	if open == nil || !open.takesText() {
		return
	}
	var left []*span
	for i := range x.spans {
		s := &x.spans[i]
		if s.used || len(left) == 0 && x.vocabulary != nil && x.common(s.text) {
			continue
		}
		left = append(left, s)
	}
	if x.vocabulary == nil && len(left) > 0 && len(left) == len(x.spans) {
		if x.take(open, unquoted(x.text)) {
			for _, s := range left {
				s.used = true
			}
		}
		return
	}
	// Of "what does notes.txt say" the path is one word.
	values := slices.DeleteFunc(slices.Clone(left), func(s *span) bool { return !isValue(s.text) })
	if isPath(open.Name) && len(values) == 1 {
		left = values
	}
	if len(left) == 0 || !x.take(open, x.between(left)) {
		return
	}
	for _, s := range left {
		s.used = true
	}
}

// takesText reports whether any words can be a value of the parameter.
func (p *Param) takesText() bool {
	return len(enumTexts(p.schema)) == 0 && p.shape(new(time.Duration)) == nil &&
		(len(p.Types) == 0 || slices.Contains(p.Types, "string") || slices.Contains(p.Types, "array"))
}

// between is the instruction as it was written from the first of the spans to the last, or their texts alone where
// others that are taken stand between.
func (x *extraction) between(left []*span) string {
	first, last := left[0], left[len(left)-1]
	if len(left) == 1 {
		return strings.TrimRight(first.text, ".")
	}
	const end = ".,;!? "
	if !slices.ContainsFunc(x.spans, func(s span) bool { return s.used && s.start > first.start && s.start < last.start }) {
		return strings.TrimRight(x.text[first.start:last.end], end)
	}
	words := make([]string, len(left))
	for i, s := range left {
		words[i] = s.text
	}
	return strings.TrimRight(strings.Join(words, " "), end)
}

// common reports whether a word says which command is meant, or nothing at all.
func (x *extraction) common(text string) bool {
	for _, word := range wordsOf(text) {
		if !x.vocabulary[word] && !empty(word) {
			return false
		}
	}
	return true
}
