package runs

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/cut"
)

// A Question is put to the person at a client.
type Question struct {
	Message string
	Form    []byte // a flat JSON Schema
	State   string // comes back with the reply
	Asked   time.Time
}

// A Reply is what the person replied to a question.
type Reply struct {
	State  string
	Action string // accept, decline or cancel
	Form   []byte // what was filled in
}

// An Answer is what a call about a run gives.
type Answer struct {
	// Text is for the model: the prompt of the step, or what keeps it from being handed out.
	Text string
	// Data is the same for programs, without the prompt: a JSON object.
	Data []byte
	// Question takes the place of both where it is not nil.
	Question *Question
}

// some is an answer where there may be none.
func some(a Answer, err error) (*Answer, error) { return &a, err }

func value(a *Answer) Answer {
	if a == nil {
		return Answer{}
	}
	return *a
}

// A Caller is who asks something of a run.
type Caller struct {
	Principal string
	Client    string // the name of the agent's program
	// May reports whether the principal may use a toolbox; nil: every one.
	May func(toolbox string) bool
	// Ask asks the person at the client; nil: the client cannot.
	Ask func(ctx context.Context, q Question) (Reply, error)
	// Asks says that a Question may be the answer; Reply is what came of one.
	Asks  bool
	Reply *Reply
}

func (c Caller) agent() string {
	if c.Client == "" {
		return byAgent + "unknown"
	}
	return byAgent + cut.Short(c.Client)
}

// person is the person at the client.
func (c Caller) person() string {
	return byPerson + "elicitation at " + strings.TrimPrefix(c.agent(), byAgent)
}

// An Error is why nothing was done, with what to do.
type Error struct{ What, Next string }

func (e *Error) Error() string { return e.What + "; " + e.Next }

func tooMuch(what string, has, most int) error {
	return &Error{fmt.Sprintf("%s has %d bytes, which is more than %d", what, has, most), "send less, and keep the rest in a file"}
}
