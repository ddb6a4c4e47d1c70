package criteria

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcp-workbench/workbench/internal/cut"
)

// Texts that clients of the workflow API know and compare.
const (
	issueBlank   = "Output is empty or invalid."
	mendBlank    = "Provide valid output content."
	mendAny      = "Review validation criteria and adjust output accordingly."
	issueNotJSON = "Output is not valid JSON for schema validation"
)

// Check judges output under the variables of an execution. It takes at most about a second, whatever the output and the
// criteria: a rule that could not be judged in time, or before ctx was done, is an issue of its own.
func (c *Criteria) Check(ctx context.Context, output string, variables map[string]any, opt Options) Verdict {
	if c == nil || c.root == nil {
		if strings.TrimSpace(output) != "" {
			return Accept()
		}
		v := Reject(issueBlank)
		v.Suggestions = []string{mendBlank}
		return v
	}
	m := &meter{ctx: ctx}
	j := &judge{
		output: asUTF8(output),
		scope:  &Scope{context: variables, mode: opt.Mode, meter: m},
		meter:  m,
	}
	node := j.judge(c.root)
	v := Accept()
	if !node.Outcome.valid() {
		v = Reject(node.issues(Passed)...)
		v.Suggestions = limit(append([]string{mendAny}, node.suggestions(Passed)...))
		v.Explain = node
	}
	v.Warnings = j.warnings
	return v
}

// asUTF8 replaces what is not UTF-8, so that places in it can be counted in bytes and in characters.
func asUTF8(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return string([]rune(text))
}

// limit drops repeated suggestions, and those past maxSuggestions with a word about their number.
func limit(list []string) []string {
	seen := map[string]bool{}
	list = slices.DeleteFunc(list, func(s string) bool {
		again := seen[s]
		seen[s] = true
		return again
	})
	if more := len(list) - maxSuggestions; more > 0 {
		list = append(list[:maxSuggestions], fmt.Sprintf("Then check again; left out here: %d more.", more))
	}
	return list
}

// judge is the work of one Check.
type judge struct {
	output   string
	scope    *Scope // for the conditions of rules
	meter    *meter
	warnings []string

	runes    []rune   // output, once a pattern needs it
	searches int      // for the nearest text, which are not made for more rules than get a suggestion
	document *decoded // output as JSON, once a schema needs it
}

func (j *judge) judge(r *rule) *Node {
	if combines(r.kind) {
		return j.combine(r)
	}
	n := &Node{Kind: r.kind, Message: r.text()}
	if holds, err := r.condition.Holds(j.scope); err != nil {
		n.giveUp(fmt.Errorf("whether the rule applies: %w", err))
		return n
	} else if !holds {
		n.Outcome = Skipped
		j.warnUnset(r)
		return n
	}
	if err := j.meter.check(); err != nil {
		n.giveUp(err)
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

// warnUnset says when a rule was left out for want of a variable: an output that was not judged by it looks like one
// that passed.
func (j *judge) warnUnset(r *rule) {
	var names []string
	unset, _ := r.condition.Unset(j.scope) // for a word more; the condition itself is decided
	for _, t := range unset {
		if !slices.Contains(names, t.Name) {
			names = append(names, t.Name)
		}
	}
	if len(names) > 0 {
		j.warn(fmt.Sprintf("Not checked, because the context does not set %s: %s", strings.Join(names, ", "), r.text()))
	}
}

func (j *judge) warn(text string) {
	if !slices.Contains(j.warnings, text) {
		j.warnings = append(j.warnings, text)
	}
}

// giveUp records that a rule could not be judged.
func (n *Node) giveUp(err error) {
	if at, ok := errors.AsType[*unjudged](err); ok {
		n.Where = cut.After(at.where, maxPlace)
	}
	n.Outcome, n.Got = Undecided, err.Error()
	n.Message = fmt.Sprintf("%s (%v)", n.Message, err)
	n.mend = []string{"Give a shorter or simpler output; what cannot be judged is not valid. If that does not help, the criteria are at fault."}
}

func (j *judge) combine(r *rule) *Node {
	n := &Node{Kind: r.kind}
	for _, child := range r.children {
		n.Children = append(n.Children, j.judge(child))
	}
	n.Outcome = outcome(n)
	return n
}

// outcome combines the outcomes of children. One that is skipped is neither passed nor failed: it fails nothing, and
// "not" does not make it fail. Every child is judged even where one decides, for the sake of the explanation.
func outcome(n *Node) Outcome {
	has := func(o Outcome) bool {
		return slices.ContainsFunc(n.Children, func(child *Node) bool { return child.Outcome == o })
	}
	order := []Outcome{Failed, Undecided, Passed, Skipped}
	switch n.Kind {
	case opOr:
		order = []Outcome{Passed, Undecided, Skipped, Failed}
	case opNot:
		return map[Outcome]Outcome{Passed: Failed, Failed: Passed, Skipped: Skipped, Undecided: Undecided}[n.Children[0].Outcome]
	}
	for _, o := range order {
		if has(o) {
			return o
		}
	}
	return Passed
}
