package criteria

// A Verdict is the judgement of one output.
type Verdict struct {
	Valid       bool     `json:"valid"`
	Issues      []string `json:"issues"`             // what is wrong, empty when Valid
	Suggestions []string `json:"suggestions"`        // what to do about it, empty when Valid
	Warnings    []string `json:"warnings,omitempty"` // what whoever sent the output should know although nothing failed by it
	Explain     *Node    `json:"explain,omitempty"`  // the judgement rule by rule; nil when Valid and where there are no criteria
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

	mend []string // what to do where this failed and should pass
	undo string   // what to do where this passed and should not
}

// Outcome is what became of a rule.
type Outcome string

const (
	Passed    Outcome = "passed"
	Failed    Outcome = "failed"
	Skipped   Outcome = "skipped"   // its condition does not hold
	Undecided Outcome = "undecided" // it could not be judged in time, or before the context was done
)

// valid reports whether the outcome leaves an output valid.
func (o Outcome) valid() bool { return o == Passed || o == Skipped }

// Options are how an output is judged. The zero value is the documented default.
type Options struct {
	Mode         Mode // how the conditions of rules compare
	AssertFormat bool // whether "format" in a JSON Schema is a demand; otherwise it is an annotation
}
