package commandsrv

import (
	"context"
	"encoding/json"

	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// Agent carries out what a user wants by commands that it chooses itself. It is called from many goroutines.
type Agent interface {
	// Run works on a request until it is done, or has to be asked about. The error is one of the model or of ctx, in
	// words for the user; what a command answered is none.
	Run(ctx context.Context, r AgentRequest) (*AgentResult, error)
}

// AgentRequest is what an [Agent] is to do.
type AgentRequest struct {
	Engine *command.Engine
	Path   command.Path // where the session stands
	// Query is what the user wants, or with State the answer to the question that the agent asked last.
	Query string
	State json.RawMessage
	// History are earlier turns of the conversation, the oldest first.
	History []Exchange
	// Trace takes the events of the commands as they happen; it is not nil.
	Trace func(command.TraceEvent)
	// Text takes what the model says to the user as it writes it, in pieces. A higher reply is a later one: what stands
	// in the one before it was said beside calls, or was broken off. It is not nil.
	Text func(reply int, piece string)
	// Ask asks the user and waits for the answer: the text, or the object of form, a flat JSON Schema. ok is false if
	// the user would not answer. It is nil where nobody can be asked meanwhile.
	Ask func(ctx context.Context, question string, form json.RawMessage) (answer string, ok bool, err error)
}

// AgentResult is what became of a request.
type AgentResult struct {
	Status command.Status
	// Output has the answer as the response of one CommandResponse, with the artifacts of all commands. Its Traces are
	// nil: Trace had them.
	Output command.CommandOutput
	Path   command.Path // where the session stands now
	// Question, Form and State are set with command.AwaitingUser: what the user is asked, the flat JSON Schema of an
	// answer that is no text, and what Run needs to go on. State is stored with the conversation, so it is plain data
	// with a stable JSON.
	Question    string
	Form, State json.RawMessage
}

// Exchange is what was said in a turn.
type Exchange struct {
	Query, Answer string
	// Own says that the answer is in the words of the agent's model. Any other is what the application returned or
	// asked: data, and nobody's word.
	Own bool
}

// Summarizer names a conversation that ends. It is called from many goroutines.
type Summarizer interface {
	// Summarize gives a topic of a few words and a summary of what was said, the oldest first; there is at least one
	// exchange. After an error the conversation goes on.
	Summarize(ctx context.Context, said []Exchange) (topic, summary string, err error)
}

// agents is where agents come from: ours, or one made for a client that lends its model; see Options.
type agents struct {
	own     Agent
	sampled func(create func(ctx context.Context, params []byte) (result []byte, err error)) Agent
}

// of is the agent that serves a caller, nil if there is none.
func (a agents) of(c *caller) Agent {
	if a.own != nil || a.sampled == nil || c.sample == nil {
		return a.own
	}
	return a.sampled(c.sample)
}
