package criteria

// A Verdict is the judgement of one output.
type Verdict struct {
	Valid       bool     `json:"valid"`
	Issues      []string `json:"issues"`             // what is wrong, empty when Valid
	Suggestions []string `json:"suggestions"`        // what to do about it, empty when Valid
	Warnings    []string `json:"warnings,omitempty"` // what the author of the output should know although nothing failed by it
	Explain     *Node    `json:"explain,omitempty"`  // the judgement rule by rule; nil when Valid
}

// A Node explains the judgement of one rule, or of a combination of rules.
type Node struct {
	Kind     string  `json:"kind"` // "all" (an array), "and", "or", "not", a rule type, or the keyword of a JSON Schema
	Outcome  Outcome `json:"outcome"`
	Expected string  `json:"expected,omitempty"`
	Got      string  `json:"got,omitempty"`
	Where    string  `json:"where,omitempty"`   // a place in the output: line and column, or a JSON pointer
	Message  string  `json:"message,omitempty"` // the message of the rule
	Children []*Node `json:"children,omitempty"`

	advice    string // what to do when this fails
	undecided bool   // failed because it could not be judged, which "not" does not turn
}

// Outcome is what became of a rule.
type Outcome string

const (
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
	Skipped Outcome = "skipped" // its condition does not hold, or another alternative has passed
)

// Options are how an output is judged. The zero value is the documented default.
type Options struct {
	Mode         Mode // how the conditions of rules compare
	AssertFormat bool // whether "format" in a JSON Schema is a demand; otherwise it is an annotation
}
