package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/mcp-workbench/workbench/internal/model"
	"github.com/mcp-workbench/workbench/internal/tokencount"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
	"github.com/mcp-workbench/workbench/workflowsrv/commandsrv"
)

// state is what is to be remembered of an instruction while the user is asked.
type state struct {
	Query string `json:"query"`
	dialogue
	Turns  int `json:"turns"`  // of the conversation, that ended in a question
	Rounds int `json:"rounds"` // replies of the model
	Plans  int `json:"plans"`
	Faults int `json:"faults,omitempty"` // rounds on end that brought nothing
	// Seen counts the calls since something was changed.
	Seen map[string]int `json:"seen,omitempty"`
	// Done are the commands that have changed something, and Failed says that the last command did not succeed.
	Done      []change                   `json:"done,omitempty"`
	Failed    bool                       `json:"failed,omitempty"`
	Plan      string                     `json:"plan,omitempty"` // the last one
	Tokens    int                        `json:"tokens,omitempty"`
	Calls     int                        `json:"calls,omitempty"`
	Spent     time.Duration              `json:"spent,omitempty"`     // by earlier calls
	Artifacts map[string]json.RawMessage `json:"artifacts,omitempty"` // by command
	Ask       *question                  `json:"ask,omitempty"`
}

// A change is a command that has changed something.
type change struct {
	Command   string          `json:"command_name"`
	Arguments json.RawMessage `json:"arguments"`
	Context   string          `json:"context"`
}

// question is what the user is asked.
type question struct {
	CallID string          `json:"call_id"` // of the call that the answer belongs to
	Text   string          `json:"text"`
	Form   json.RawMessage `json:"form"`
	// Pending is set where a command waits for a yes.
	Pending *command.Pending `json:"pending,omitempty"`
}

// run is one call of [Agent.Run].
type run struct {
	state
	model   Model
	opts    Options
	began   time.Time
	ctx     context.Context // of the call, which the run does not outlive
	request commandsrv.AgentRequest
	w       *command.Workflow
	path    command.Path
	stale   bool              // the plan is
	replies int               // of which there was something to hear
	tools   map[string]string // the commands that the model was offered, by the names of the tools
}

// waiting reports whether there is a question that only a later call can bring the answer to.
func (s *state) waiting() bool { return s.Ask != nil }

// keep notes the artifacts of a command.
func (s *state) keep(o *command.Outcome) {
	m := map[string]json.RawMessage{}
	for _, r := range o.Output.CommandResponses {
		maps.Copy(m, r.Artifacts)
	}
	b, err := json.Marshal(m)
	if err != nil || len(m) == 0 || o.Output.CommandName == nil {
		return
	}
	if s.Artifacts == nil {
		s.Artifacts = map[string]json.RawMessage{}
	}
	size := len(b)
	for name, v := range s.Artifacts {
		if name != *o.Output.CommandName {
			size += len(v)
		}
	}
	if size > maxArtifacts {
		b = []byte(`"left out: the results are too much together"`)
	}
	s.Artifacts[*o.Output.CommandName] = b
}

// result is what became of the request.
func (t *run) result(status command.Status, success bool, text string) *commandsrv.AgentResult {
	responses := []command.CommandResponse{{Response: text, Artifacts: t.Artifacts}}
	if status == command.Completed {
		responses = append(responses, t.account())
	}
	return &commandsrv.AgentResult{Status: status, Path: t.path, Output: command.CommandOutput{
		Success: success, WorkflowName: t.w.Name, Context: t.w.Title(t.path), CommandParameters: json.RawMessage("null"),
		CommandResponses: responses,
	}}
}

// account says what was changed and by which plan, whatever the model says.
func (s *state) account() command.CommandResponse {
	text := "Nothing was changed."
	if len(s.Done) > 0 {
		text = "What was changed:"
	}
	for i, c := range s.Done {
		text += fmt.Sprintf("\n%d. %s %s at %s", i+1, c.Command, c.Arguments, c.Context)
	}
	artifacts := map[string]json.RawMessage{}
	for name, value := range map[string]any{"plan": s.Plan, "changes": append([]change{}, s.Done...)} {
		if b, err := json.Marshal(value); err == nil {
			artifacts[name] = b
		}
	}
	return command.CommandResponse{Response: text, Artifacts: artifacts}
}

// end is the result of work that did not come to its end.
func (t *run) end(why string) *commandsrv.AgentResult {
	if len(t.Done) > 0 {
		why += " Some of it was done before that."
	}
	return t.result(command.Completed, false, why)
}

// spent says which budget is used up, "" while none is.
func (t *run) spent() string {
	switch {
	case t.Tokens >= t.opts.Tokens:
		return fmt.Sprintf("The model was stopped after %d tokens, the most that one instruction may use; ask for less at a time.", t.Tokens)
	case t.Calls >= t.opts.Calls:
		return fmt.Sprintf("The model was stopped after %d calls, the most that one instruction may make; ask for less at a time.", t.Calls)
	case t.elapsed() >= t.opts.Time:
		return fmt.Sprintf("The model was stopped after %v, the longest that one instruction may take; ask for less at a time.", t.opts.Time)
	}
	return ""
}

func (t *run) elapsed() time.Duration { return t.Spent + t.opts.Now().Sub(t.began) }

// complete asks the model, and counts what that costs.
func (t *run) complete(r model.Request) (*model.Reply, error) {
	reply, err := t.model.Complete(t.ctx, r)
	if err != nil {
		return nil, err
	}
	if reply.Tokens == 0 { // the endpoint does not say
		size := len(reply.Text)
		for _, m := range r.Messages {
			size += len(m.Text)
		}
		for _, tool := range r.Tools {
			size += len(tool.Description) + len(tool.Schema)
		}
		reply.Tokens = tokencount.Of(size)
	}
	t.Tokens += reply.Tokens
	return reply, nil
}

// await is the result of work that the user is asked about.
func (t *run) await() *commandsrv.AgentResult {
	t.Turns++
	t.Spent = t.elapsed()
	r := t.result(command.AwaitingUser, false, t.Ask.Text)
	if t.Ask.Pending != nil {
		r.Output.CommandResponses[0].NextActions = []command.Action{t.Ask.Pending.Action}
	}
	r.Question, r.Form = t.Ask.Text, t.Ask.Form
	r.State = wire.MustEncode(t.state)
	return r
}

// trace tells of a plan, which is no command but reaches the agent like the answer of one.
func (t *run) trace(plan string) {
	t.request.Trace(command.TraceEvent{Timestamp: time.Now().UnixMilli(), Direction: command.ToAgent, Parameters: json.RawMessage("null"), ResponseText: &plan})
}

// about describes the application.
func about(w *command.Workflow) string {
	text := "The application: " + w.Name
	for _, more := range []string{w.Description, w.Purpose} {
		if more != "" {
			text += "\n" + more
		}
	}
	return text
}

// exchanges are the last turns of the conversation before this instruction, whose own are in the dialogue.
func (t *run) exchanges() []commandsrv.Exchange {
	said := t.request.History
	said = said[:max(0, len(said)-t.Turns)]
	return slices.DeleteFunc(slices.Clone(said[max(0, len(said)-maxHistory):]), func(e commandsrv.Exchange) bool { return e.Query == "" || e.Answer == "" })
}

// note takes over what became of a command, and words it for the model.
func (t *run) note(o *command.Outcome) string {
	text := o.Text()
	moved := t.w.Trail(o.Path) != t.w.Trail(t.path)
	t.path = o.Path
	t.Failed = !o.Output.Success
	if p := o.Problem; o.Output.CommandName == nil || p != nil && len(p.Missing)+len(p.Invalid) > 0 {
		t.stale = true
		return text
	}
	t.keep(o)
	c := t.w.Command(*o.Output.CommandName)
	if o.Output.Success && c.Effect != command.Read && c.Effect != command.Navigate {
		t.Done, t.Seen = append(t.Done, change{c.Name, o.Output.CommandParameters, o.Output.Context}), nil
	}
	if len(c.Outputs) > 0 && o.Output.Success {
		if b, err := json.Marshal(o.Output.CommandResponses[0].Artifacts); err == nil {
			text += "\n" + string(b)
		}
	}
	if moved {
		text = "The session is at " + t.w.Trail(t.path) + " now.\n" + text
	}
	if !o.Output.Success {
		text = "It failed. " + text
	}
	return text
}
