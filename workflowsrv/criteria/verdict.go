package criteria

import (
	"github.com/mcp-workbench/workbench/internal/wire"
)

// A Verdict is the judgement of one output: it is valid, or it has issues. There is no third reading: what could not be
// judged is an issue, and so is that nobody has judged at all, which is what the zero value says.
type Verdict struct {
	Suggestions []string // what to do about the issues, empty when valid
	Warnings    []string // what whoever sent the output should know although nothing failed by it
	Explain     *Node    // the judgement rule by rule; nil when valid and where there are no criteria

	valid  bool
	issues []string
}

// Accept is the verdict that nothing is wrong.
func Accept() Verdict { return Verdict{valid: true} }

// Reject is the verdict that something is wrong.
func Reject(issues ...string) Verdict { return Verdict{issues: issues} }

// Valid reports whether the output was judged, and nothing is wrong with it.
func (v Verdict) Valid() bool { return v.valid }

// Issues say what is wrong. There is none when the verdict is valid, and at least one when it is not.
func (v Verdict) Issues() []string {
	switch {
	case v.valid:
		return []string{}
	case len(v.issues) == 0:
		return []string{"It was not judged."}
	}
	return v.issues
}

// Faults are the nodes behind the issues, each with its place in the output where it has one: of alternatives the value
// that satisfies none of them. There is none when the verdict is valid, and at least one when it is not.
func (v Verdict) Faults() []*Node {
	switch {
	case v.valid:
		return nil
	case v.Explain != nil:
		return v.Explain.faults(nil)
	}
	var list []*Node
	for _, issue := range v.Issues() {
		list = append(list, &Node{Outcome: Failed, Expected: issue, Message: issue})
	}
	return list
}

// MarshalJSON gives the verdict as the workflow API has it.
func (v Verdict) MarshalJSON() ([]byte, error) {
	return wire.Encode(struct { // Escapes for HTML are left to the encoder around it.
		Valid       bool     `json:"valid"`
		Issues      []string `json:"issues"`
		Suggestions []string `json:"suggestions"`
		Warnings    []string `json:"warnings,omitempty"`
		Explain     *Node    `json:"explain,omitempty"`
	}{v.valid, v.Issues(), append([]string{}, v.Suggestions...), v.Warnings, v.Explain})
}

// A Node explains the judgement of one rule, of a combination of rules, or of one place in a JSON output.
type Node struct {
	Kind     string  `json:"kind"` // "all" (an array of rules), "and", "or", "not", a rule type, or the keyword of a JSON Schema
	Outcome  Outcome `json:"outcome"`
	Expected string  `json:"expected,omitempty"`
	Got      string  `json:"got,omitempty"`
	Where    string  `json:"where,omitempty"`   // a place in the output: line and column, or a JSON pointer
	Message  string  `json:"message,omitempty"` // of the rule; empty for combinations and places
	Children []*Node `json:"children,omitempty"`

	// Property is the one that is missing, or that must not be there.
	Property string `json:"-"`

	mend []string // what to do where this failed and should pass
	undo string   // what to do where this passed and should not
}

// Outcome is what became of a rule.
type Outcome string

const (
	Passed    Outcome = "passed"
	Failed    Outcome = "failed"
	Skipped   Outcome = "skipped"   // its condition does not hold
	Undecided Outcome = "undecided" // it could not be judged: in time, before the context was done, or at all; nothing is valid by it
)

// valid reports whether the outcome leaves an output valid.
func (o Outcome) valid() bool { return o == Passed || o == Skipped }

// faults gathers the nodes that keep n from being valid, n itself where none below it does.
func (n *Node) faults(list []*Node) []*Node {
	before := len(list)
	for _, child := range n.Children {
		if n.Where == "" && !child.Outcome.valid() {
			list = child.faults(list)
		}
	}
	if len(list) == before {
		list = append(list, n)
	}
	return list
}

// Options are how an output is judged. The zero value is the documented default.
type Options struct {
	Mode Mode // how the conditions of rules compare
}

// maxSuggestions bounds the suggestions of one verdict: past it, nobody reads on.
const maxSuggestions = 20
