package definition

import (
	"iter"

	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
)

// A Workflow is a definition that passed every check. It does not change, and
// any number of goroutines may read it.
type Workflow struct {
	ID, Name, Description, Version string
	// Category is "default" where the file names none.
	Category string
	Tags     []string
	// About and Examples are for people who choose a workflow.
	About    string
	Examples []string

	Preconditions        []string
	ClarificationPrompts []string
	MetaGuidance         []string
	References           []Reference
	Functions            []Function
	// ModelTier is lightweight, mid, heavy or "".
	ModelTier string

	// Steps are in the order of the file; loops hold their own.
	Steps []*Step

	// Warnings name what is doubtful, and every part of the file that is read
	// but not carried out.
	Warnings []Fault
	// JSON is the whole definition as compact JSON, keys in the order of the
	// file.
	JSON []byte

	byID map[string]*Step
}

// Step returns the step with the given id, at the top or in a loop, or nil.
func (w *Workflow) Step(id string) *Step { return w.byID[id] }

// StepIDs returns the ids of all steps in the order of the file, those of
// loop bodies after their loop.
func (w *Workflow) StepIDs() []string {
	var ids []string
	for s := range w.All() {
		ids = append(ids, s.ID)
	}
	return ids
}

// All goes through all steps in the order of the file, the loops themselves
// and those of their bodies after them.
func (w *Workflow) All() iter.Seq[*Step] {
	return func(yield func(*Step) bool) {
		for _, s := range w.Steps {
			if !yield(s) {
				return
			}
			if s.Loop == nil || s.Loop.Referenced {
				continue
			}
			for _, b := range s.Loop.Body {
				if !yield(b) {
					return
				}
			}
		}
	}
}

// A Step is one step, or a loop over steps.
type Step struct {
	ID, Title string
	// Prompt is empty for a loop, and for a step that has Blocks instead.
	Prompt    string
	Blocks    *Blocks
	Fragments []Fragment
	// Delegations are those of a parallel step, and Template the id of the
	// template that a step calls: both are told to the agent, not carried out.
	Delegations []Delegation
	Synthesis   string
	Template    string

	AgentRole   string
	Guidance    []string
	AskForFiles bool
	// HasValidation is the author's hint that the output should be validated.
	HasValidation bool
	ModelTier     string

	Functions     []Function
	FunctionRefs  []string // without the parentheses
	FunctionCalls []FunctionCall

	Confirm Confirmation
	// RunCondition is nil for a step that is always eligible.
	RunCondition *criteria.Condition
	// Criteria is nil for a step whose output need only not be blank.
	Criteria *criteria.Criteria

	// Loop is nil for an ordinary step.
	Loop *Loop
	// InLoop says that the step is handed out by a loop and not by itself.
	InLoop bool

	// JSON is the step as it stands in the file, as compact JSON.
	JSON []byte

	words map[string]bool // of the texts, those that are tested variables
}

// Mentions reports whether a text of the step names the variable, which some
// condition of the workflow tests.
func (s *Step) Mentions(variable string) bool { return s.words[variable] }

// Confirmation says when the user must agree before a step.
type Confirmation struct {
	Always bool
	// When is nil unless the agreement depends on the context.
	When *criteria.Condition
	// Gate is human_approval, coordinator_eval or "".
	Gate string
}

// Blocks is a prompt in parts.
type Blocks struct {
	Goal        string
	Constraints []string
	Procedure   []string
	Required    []Deliverable
	Verify      []string
}

// A Deliverable is one thing that a step must put out.
type Deliverable struct{ Name, Text string }

// A Fragment is text that joins the prompt while its condition holds.
type Fragment struct {
	When *criteria.Condition // nil: always
	Text string
}

// A Delegation is a workflow that a parallel step wants run.
type Delegation struct {
	WorkflowID, Goal string
	When             *criteria.Condition // nil: always
}

// A Reference is a document that the agent should know.
type Reference struct {
	Title, Source, Purpose string
	Authoritative          bool
}

// A Function is a text with a name that steps refer to.
type Function struct {
	Name, Definition string
	Parameters       []Parameter
}

// A Parameter is what a function takes.
type Parameter struct {
	Name, Type, Description string
	Required                bool
}

// A FunctionCall is a function with arguments, as compact JSON.
type FunctionCall struct {
	Name string
	Args []byte
}
