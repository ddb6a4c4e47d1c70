package command

import (
	"context"
	"encoding/json"
	"time"
)

// Options are what an [Engine] works with. A runner that is nil makes the commands bound to it fail with an
// explanation: HTTP and processes are for folders that the operator has configured.
type Options struct {
	Caller  Caller
	HTTP    HTTPRunner
	Process ProcessRunner
	// Chooser takes the choice among commands for Assist; nil leaves it to words in common.
	Chooser Chooser
	// LookupEnv reads the variables that headers and processes refer to; nil knows none.
	LookupEnv func(name string) (string, bool)
	// Credential finds a secret of a user, which ${user:NAME} in headers and in the environment of processes stands
	// for; nil knows none.
	Credential func(ctx context.Context, user, name string) (string, error)
	// Now is the clock of traces; nil is time.Now.
	Now func() time.Time
}

// CallOptions belong to one call. The zero value is ready.
type CallOptions struct {
	// Confirmed says that the user has agreed to the command that is called. Without it a command that is to be
	// confirmed asks.
	Confirmed bool
	// Inferred says that the command was chosen by something that may be wrong, such as a model. Without Confirmed it
	// asks if it may change more than the place.
	Inferred bool
	// AnswersOnly says that a reply to a question of yes or no is an answer or nothing: Answer carries out no instruction
	// in its place.
	AnswersOnly bool
	// Trace gets the events of the call as they happen; nil gathers them in CommandOutput.Traces instead. It is called
	// from the caller's goroutine.
	Trace func(TraceEvent)
	// Corrections are what the user said of earlier instructions; Assist looks at them.
	Corrections []Correction
	// Seen gives results of earlier turns of the conversation as JSON, the latest first; Assist and Answer find values
	// in them. nil has none. It is called at most once.
	Seen func() []json.RawMessage
}

// Chooser takes the choice among the likeliest commands, and finds their parameters in the instruction.
type Chooser interface {
	// Choose is called with at least one candidate. The error ends the turn.
	Choose(ctx context.Context, c Choice) (Chosen, error)
}

// Choice is what a [Chooser] chooses from.
type Choice struct {
	Query string
	// Context says where the session stands, the outermost place first.
	Context    string
	Candidates []Candidate
}

// Candidate is a command that an instruction may mean.
type Candidate struct {
	ListedEntry
	// Schema is the JSON Schema of the parameters together, at any place.
	Schema json.RawMessage `json:"-"`
	// Score is from 0 to 1: how much instruction and command have in common.
	Score float64 `json:"score"`
}

// Chosen is the answer of a [Chooser]: the name of a candidate, "" for none, and an object of the parameters that the
// instruction gives, nil for none. Arguments that are no object are no choice.
type Chosen struct {
	Command   string
	Arguments json.RawMessage
}
