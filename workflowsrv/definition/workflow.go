package definition

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/mcp-workbench/workbench/internal/document"
	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
)

// A Workflow is a definition that passed every check. It does not change, and any number of goroutines may read it.
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
	Assessments          []Assessment
	// ModelTier is lightweight, mid, heavy or "".
	ModelTier string
	// Preferences say how freely the author wants the work done, as sentences.
	Preferences []string
	// MetricsProfile names the kind of the work, and Figures says what is to be told of it at the end, "" for none.
	MetricsProfile, Figures string

	// Steps are in the order of the file; loops hold their own.
	Steps []*Step

	// Warnings name what is doubtful.
	Warnings []Fault
	// JSON is the whole definition as compact JSON, keys in the order of the file.
	JSON []byte
	// Pinned is JSON too, for a time when the files are others: the same, or, of a workflow that calls routines, a list
	// of it and them. [ParsePinned] reads it.
	Pinned []byte

	byID    map[string]*Step
	routine *document.Node // of a routine: its file, for those that call it
}

// Step returns the step with the given id, at the top or in a loop, or nil.
func (w *Workflow) Step(id string) *Step { return w.byID[id] }

// StepIDs returns the ids of all steps in the order of the file, those of loop bodies after their loop.
func (w *Workflow) StepIDs() []string {
	var ids []string
	for s := range w.All() {
		ids = append(ids, s.ID)
	}
	return ids
}

// All goes through all steps in the order of the file, the loops themselves and those of their bodies after them.
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
	// Delegations are those of a parallel step, and Synthesis is what to do with their results.
	Delegations []Delegation
	Synthesis   string
	// From is the routine that the step was taken from; the zero value for a step that stands in the file itself.
	From Taken

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

	// Contract names the kind of artifact that the step owes, "" for none. ContractOptional says that it can do without.
	Contract         string
	ContractOptional bool
	// Assessments are the ratings that the step asks for.
	Assessments  []*Assessment
	Consequences []Consequence
	// Audit and Verification say how the result is looked at once more.
	Audit, Verification string
	Rubric              []string
	Command             string
	NotesOptional       bool

	// Act is nil for a step of the agent.
	Act *Act
	// Loop is nil for an ordinary step.
	Loop *Loop
	// InLoop says that the step is handed out by a loop and not by itself.
	InLoop bool

	// JSON is the step as it stands in the file, as compact JSON.
	JSON []byte

	words map[string]bool // of the texts, those that are tested variables
}

// Mentions reports whether a text of the step names the variable, which some condition of the workflow tests.
func (s *Step) Mentions(variable string) bool { return s.words[variable] }

// Mentioned are the tested variables that the texts of the step name, in the order of their names.
func (s *Step) Mentioned() []string { return slices.Sorted(maps.Keys(s.words)) }

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
	// Args and Mapping give the variables it begins with.
	Args      []Argument
	Mapping   []Mapping
	ModelTier string
	// AllowedTools are those that it may use; nil for all.
	AllowedTools []string
}

// An Argument is a variable with its value.
type Argument struct {
	Name  string
	Value any
}

// A Mapping hands the value of a variable on under another name.
type Mapping struct{ From, To string }

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

// An Assessment is a rating by levels that steps ask for.
type Assessment struct {
	ID, Purpose string
	Dimensions  []Dimension
}

// A Dimension is one thing that an assessment rates.
type Dimension struct {
	ID, Purpose string
	Levels      []string
	Optional    bool
}

// A Consequence is what follows from a rating.
type Consequence struct {
	// Level is the rating that has it, For the assessment, "" for any of the step.
	Level, For string
	// Guidance says what to do, before the step counts as done.
	Guidance string
}

// Taken says where a step comes from that a call stands for.
type Taken struct{ Routine, File string }

// String names the place for people.
func (t Taken) String() string { return fmt.Sprintf("%s (%s)", t.Routine, t.File) }

// ActKind says who or what carries out a step that is not the agent's.
type ActKind string

// The kinds of steps that are not the agent's. Where no run is kept, the agent is asked to do them.
const (
	ActTool ActKind = "tool" // a call of a tool
	ActWait ActKind = "wait" // until a time or for a file
	ActAsk  ActKind = "ask"  // a question to the person
)

// An Act is what such a step does.
type Act struct {
	Kind ActKind
	// Result names the variable that takes what came of it, "" for none.
	Result string
	// Needs are the variables in Arguments or File.
	Needs []string
	// Timeout bounds a call or the waiting for a file; 0 is none of the step's own.
	Timeout time.Duration

	// Toolbox, Server and Tool are what is called, with Arguments, JSON in whose strings {{name}} stands for a
	// variable. A call that fails, or after which Expect does not hold, is made Retries times more.
	Toolbox, Server, Tool string
	Arguments             []byte
	Retries               int
	Expect                *criteria.Condition

	// For is how long to wait; File and Webhook are what to wait for, the latter a request at a gateway.
	For     time.Duration
	File    string
	Webhook bool

	// Question is what the person is asked, and Answers what there is to choose from; none: any text.
	Question string
	Answers  []string
}
