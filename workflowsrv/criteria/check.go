package criteria

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf16"
)

// Texts that the workflow API fixes: clients compare them.
const (
	issueBlank      = "Output is empty or invalid."
	adviceBlank     = "Provide valid output content."
	adviceAny       = "Review validation criteria and adjust output accordingly."
	issueNotJSON    = "Output is not valid JSON for schema validation"
	textContains    = "Output must include %q"
	textPattern     = "Pattern mismatch: %s"
	textShort       = "Output shorter than minimum length %s"
	textLong        = "Output exceeds maximum length %s"
	issueSchemaNode = "Validation Error at '%s': %s"
)

// Check judges output under the variables of an execution. It takes at most about a second, whatever the output and
// the criteria: what could not be judged in time, or after ctx was done, is an issue of its own.
func (c *Criteria) Check(ctx context.Context, output string, variables map[string]any, opt Options) Verdict {
	v := Verdict{Issues: []string{}, Suggestions: []string{}}
	if c == nil || c.root == nil {
		if v.Valid = strings.TrimSpace(output) != ""; !v.Valid {
			v.Issues, v.Suggestions = []string{issueBlank}, []string{adviceBlank}
		}
		return v
	}
	j := &judge{output: output, variables: variables, opt: opt, meter: &meter{ctx: ctx}}
	node := j.judge(c.root)
	v.Warnings = j.warnings
	if v.Valid = node.Outcome != Failed; !v.Valid {
		v.Issues = node.issues()
		v.Suggestions = append([]string{adviceAny}, node.suggestions()...)
		v.Explain = node
	}
	return v
}

// judge is the work of one Check.
type judge struct {
	output    string
	variables map[string]any
	opt       Options
	meter     *meter
	warnings  []string

	runes []rune // output, once a pattern needs it
}

func (j *judge) judge(r *rule) *Node {
	if r.combines() {
		return j.combine(r)
	}
	n := &Node{Kind: r.kind, Message: r.text()}
	if !r.condition.Eval(j.variables, j.opt.Mode) {
		n.Outcome = Skipped
		j.warnUnset(r)
		return n
	}
	switch r.kind {
	case "contains":
		j.contains(r, n)
	case "regex":
		j.regex(r, n)
	case "length":
		j.length(r, n)
	case "schema":
		j.schema(r, n)
	}
	return n
}

// warnUnset says when a rule was left out for want of a variable: an output that was not judged by it looks like
// one that passed.
func (j *judge) warnUnset(r *rule) {
	missing := r.condition.Missing(j.variables, j.opt.Mode)
	if len(missing) == 0 {
		return
	}
	j.warnings = append(j.warnings, fmt.Sprintf("Not checked, because the context does not set %s: %s", names(missing), r.text()))
}

func names(tests []VarTest) string {
	var list []string
	seen := map[string]bool{}
	for _, t := range tests {
		if !seen[t.Name] {
			seen[t.Name] = true
			list = append(list, t.Name)
		}
	}
	return strings.Join(list, ", ")
}

// combine judges a combination. A skipped rule is neither passed nor failed: it fails nothing, and it is not turned
// into a failure by "not".
func (j *judge) combine(r *rule) *Node {
	n := &Node{Kind: r.kind}
	count := map[Outcome]int{}
	for _, child := range r.children {
		var node *Node
		if r.kind == opOr && count[Passed] > 0 {
			node = &Node{Kind: child.kind, Outcome: Skipped, Message: child.message}
		} else {
			node = j.judge(child)
		}
		count[node.Outcome]++
		n.undecided = n.undecided || node.undecided
		n.Children = append(n.Children, node)
	}
	n.Outcome = outcome(r.kind, count, len(r.children))
	if r.kind == opNot && n.undecided {
		n.Outcome = Failed
	}
	n.undecided = n.undecided && n.Outcome == Failed
	return n
}

func outcome(kind string, count map[Outcome]int, children int) Outcome {
	switch {
	case kind == opNot && count[Passed] > 0:
		return Failed
	case kind == opNot && count[Failed] > 0:
		return Passed
	case kind == opOr && count[Passed] > 0:
		return Passed
	case kind == opOr && count[Skipped] == 0:
		return Failed
	case kind != opOr && count[Failed] > 0:
		return Failed
	case children > 0 && count[Passed] == 0:
		return Skipped
	}
	return Passed
}

// text is the message of a rule, or the default text.
func (r *rule) text() string {
	switch {
	case r.message != "":
		return r.message
	case r.kind == "contains":
		return fmt.Sprintf(textContains, r.value)
	case r.kind == "regex":
		return fmt.Sprintf(textPattern, r.pattern.source)
	case r.kind == "length":
		var parts []string
		if r.min != nil {
			parts = append(parts, fmt.Sprintf(textShort, r.min))
		}
		if r.max != nil {
			parts = append(parts, fmt.Sprintf(textLong, r.max))
		}
		return strings.Join(parts, "; ")
	}
	return "Output does not satisfy the JSON Schema"
}

func (j *judge) contains(r *rule, n *Node) {
	n.Expected = fmt.Sprintf("the text %q", r.value)
	if at := strings.Index(j.output, r.value); at >= 0 {
		n.Outcome, n.Got, n.Where = Passed, fmt.Sprintf("%q", r.value), place(j.output, at)
		return
	}
	n.Outcome, n.Got = Failed, "no such text"
	n.advice = fmt.Sprintf("Add the text %q.", r.value)
}

func (j *judge) regex(r *rule, n *Node) {
	if j.runes == nil {
		j.runes = []rune(j.output)
	}
	n.Expected = "a match of " + r.pattern.String()
	start, end, err := r.pattern.find(j.runes, j.meter)
	switch {
	case err != nil:
		n.fail(err)
	case start >= 0:
		n.Outcome, n.Got = Passed, fmt.Sprintf("%q", cut(string(j.runes[start:end]), 60))
		n.Where = place(j.output, len(string(j.runes[:start])))
	default:
		n.Outcome, n.Got = Failed, "no match"
		n.advice = "Add text that matches " + r.pattern.String() + "."
	}
}

// fail records that a rule could not be judged.
func (n *Node) fail(err error) {
	n.Outcome, n.undecided, n.Got = Failed, true, err.Error()
	n.Message = fmt.Sprintf("%s (%v)", n.Message, err)
}

func (j *judge) length(r *rule, n *Node) {
	units := 0
	for _, c := range j.output {
		units += utf16.RuneLen(c)
	}
	n.Outcome, n.Got = Passed, fmt.Sprintf("%d", units)
	size := number{i: int64(units), f: float64(units), integer: true}
	switch {
	case r.min != nil && less(size, *r.min):
		n.Outcome = Failed
		n.advice = fmt.Sprintf("Say more: the output has %d characters, at least %s are needed.", units, r.min)
		if r.message == "" {
			n.Message = fmt.Sprintf(textShort, r.min)
		}
	case r.max != nil && less(*r.max, size):
		n.Outcome = Failed
		n.advice = fmt.Sprintf("Say less: the output has %d characters, at most %s are allowed.", units, r.max)
		if r.message == "" {
			n.Message = fmt.Sprintf(textLong, r.max)
		}
	}
}

func less(a, b number) bool {
	order, ok := a.compare(b)
	return ok && order < 0
}

// place names a byte offset of the output as a reader counts it.
func place(output string, at int) string {
	line := strings.Count(output[:at], "\n") + 1
	column := len([]rune(output[strings.LastIndexByte(output[:at], '\n')+1:at])) + 1
	return fmt.Sprintf("line %d, column %d", line, column)
}

// cut shortens s to n characters.
func cut(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n]) + "…"
}
