package definition

import "github.com/mcp-workbench/workbench/workflowsrv/criteria"

// LoopKind is the way a loop decides whether to go round once more.
type LoopKind string

// The kinds of loops. While and until are decided before each pass, so both may make no pass at all.
const (
	While   LoopKind = "while"
	Until   LoopKind = "until"
	For     LoopKind = "for"
	ForEach LoopKind = "forEach"
)

// A Loop repeats steps.
type Loop struct {
	Kind LoopKind
	// Condition is that of while and until. It is nil for the other kinds, and where the file leaves the decision to an
	// artifact of the kind wr.loop_control: such a loop goes round until maxIterations, or until it is named as
	// completed.
	Condition *criteria.Condition
	// ByArtifact says that the file leaves the decision to an artifact.
	ByArtifact bool
	// Name is what such an artifact may call the loop, beside its id.
	Name string
	// ItemsVar names the context variable with the array of forEach.
	ItemsVar string
	// Count is the number of passes of a for loop, unless CountVar names the context variable that holds it.
	Count    int
	CountVar string
	// MaxIterations is 1 to 1000.
	MaxIterations int
	// IterationVar counts passes from 1, IndexVar from 0.
	IterationVar, ItemVar, IndexVar string
	// Body holds at least one step, none of them a loop.
	Body []*Step
	// Referenced says that Body is a step that stands elsewhere in the file.
	Referenced bool
}
