package criteria

import (
	"fmt"
	"strings"
	"unicode/utf16"
)

func textShort(r *rule) string { return fmt.Sprintf("Output shorter than minimum length %s", r.min) }

func textLong(r *rule) string { return fmt.Sprintf("Output exceeds maximum length %s", r.max) }

func (j *judge) contains(r *rule, n *Node) {
	n.Expected = fmt.Sprintf("the text %q", r.value)
	if at := strings.Index(j.output, r.value); at >= 0 {
		n.Outcome, n.Got, n.Where = Passed, quote(r.value), place(j.output, at)
		n.undo = fmt.Sprintf("Take out %s at %s.", n.Got, n.Where)
		return
	}
	n.Outcome, n.Got = Failed, "no such text"
	n.mend = []string{fmt.Sprintf("Add the text %q.", r.value)}
	if j.searches++; j.searches > maxSuggestions {
		return
	}
	near, at, how := nearestPassage(j.output, r.value)
	if near == "" {
		return
	}
	n.Got, n.Where = fmt.Sprintf("%s, which differs %s", quote(near), how), place(j.output, at)
	n.mend = []string{fmt.Sprintf("Write %q exactly; %s at %s differs %s.", r.value, quote(near), n.Where, how)}
}

func (j *judge) regex(r *rule, n *Node) {
	if j.runes == nil {
		j.runes = []rune(j.output)
	}
	n.Expected = "a match of " + r.pattern.String()
	start, end, err := r.pattern.find(j.runes, j.meter)
	switch {
	case err != nil:
		n.giveUp(err)
		return
	case start >= 0:
		n.Outcome = Passed
		n.Got, n.Where = j.passage(start, end)
		n.undo = fmt.Sprintf("Take out %s at %s, which matches %s.", n.Got, n.Where, r.pattern)
		return
	}
	n.Outcome, n.Got = Failed, "no match"
	n.mend = []string{fmt.Sprintf("Add text that matches %s.", r.pattern)}
	folded, err := r.pattern.ignoringCase()
	if j.searches++; j.searches > maxSuggestions || err != nil || folded == r.pattern {
		return
	}
	if start, end, err = folded.find(j.runes, j.meter); err == nil && start >= 0 {
		near, where := j.passage(start, end)
		n.Got, n.Where = near+", which differs only in case", where
		n.mend = []string{fmt.Sprintf("Add text that matches %s; %s at %s would, but for its case.", r.pattern, near, where)}
	}
}

// passage quotes a range of the output in runes and names its place.
func (j *judge) passage(start, end int) (text, where string) {
	return quote(string(j.runes[start:end])), place(j.output, len(string(j.runes[:start])))
}

func characters(n int) string {
	if n == 1 {
		return "1 character"
	}
	return fmt.Sprintf("%d characters", n)
}

func (j *judge) length(r *rule, n *Node) {
	units := 0
	for _, c := range j.output {
		units += utf16.RuneLen(c)
	}
	size := number{i: int64(units), f: float64(units), integer: true}
	n.Outcome, n.Expected, n.Got = Passed, r.bounds(), characters(units)
	n.undo = fmt.Sprintf("Change the length: %s is not allowed.", characters(units))
	switch {
	case r.min != nil && less(size, *r.min):
		n.Outcome = Failed
		n.mend = []string{fmt.Sprintf("Say more: the output has %s, at least %s are needed.", characters(units), r.min)}
		if r.message == "" {
			n.Message = textShort(r)
		}
	case r.max != nil && less(*r.max, size):
		n.Outcome = Failed
		n.mend = []string{fmt.Sprintf("Say less: the output has %s, at most %s are allowed.", characters(units), r.max)}
		if r.message == "" {
			n.Message = textLong(r)
		}
	}
}

func (r *rule) bounds() string {
	switch {
	case r.min != nil && r.max != nil:
		return fmt.Sprintf("%s to %s characters", r.min, r.max)
	case r.min != nil:
		return fmt.Sprintf("at least %s characters", r.min)
	case r.max != nil:
		return fmt.Sprintf("at most %s characters", r.max)
	}
	return "any length"
}

func less(a, b number) bool {
	order, ok := a.compare(b)
	return ok && order < 0
}
