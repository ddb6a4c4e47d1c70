package commandsrv

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// commandResult is the result of execute_command, without its traces.
type commandResult struct {
	TurnKey string         `json:"turn_key"`
	Status  command.Status `json:"status"`
	Context string         `json:"context"`
	command.ExecuteResult
	Question string          `json:"question,omitempty"`
	Form     json.RawMessage `json:"form,omitempty"`
}

// runResult is the result of run_command, without its traces.
type runResult struct {
	commandResult
	CommandName       *string         `json:"command_name"`
	CommandParameters json.RawMessage `json:"command_parameters"`
	// StructuredContent and Content are what a tool has returned, as it gave them.
	StructuredContent json.RawMessage `json:"structured_content,omitempty"`
	Content           json.RawMessage `json:"content,omitempty"`
}

// turnResult is the result of invoke_assistant and invoke_agent, without its traces.
type turnResult struct {
	TurnKey string         `json:"turn_key"`
	Status  command.Status `json:"status"`
	command.CommandOutput
	*command.Problem
	Question string          `json:"question,omitempty"`
	Form     json.RawMessage `json:"form,omitempty"`
}

// A worker does what turns are for.
type worker struct {
	*book
	maxTurn time.Duration
}

// resultOf is the result of an operation that carries out a command or an instruction.
func (w *worker) resultOf(t *turn, o *command.Outcome, form json.RawMessage) any {
	if t.request.kind == kindAssistant || t.request.kind == kindAgent {
		return turnResult{t.name(), o.Status, o.Output, o.Problem, o.Question, form}
	}
	r := commandResult{t.name(), o.Status, o.Output.Context, o.Result(), o.Question, form}
	if o.Status == command.AwaitingUser && o.Pending != nil && o.Pending.Kind == command.AskConfirm {
		r.ResponseText += "\nAnswer yes, by any operation that takes words, or send this again with confirmed true."
	}
	if t.request.kind != kindRun {
		return r
	}
	// What is there as the tool gave it is not there once more.
	if o.Content != nil {
		r.Artifacts = maps.Clone(r.Artifacts)
		delete(r.Artifacts, "content")
	}
	if o.Output.CommandName != nil && len(t.engine().Workflow().Command(*o.Output.CommandName).Outputs) == 0 && o.Structured != nil {
		r.Artifacts = nil
	}
	return runResult{r, o.Output.CommandName, o.Output.CommandParameters, o.Structured, o.Content}
}

// work does what a turn is for, from where its conversation stands.
func (w *worker) work(ctx context.Context, t *turn) (store.Turn, *Fault) {
	conversation, err := w.store.Conversation(ctx, t.at.owner, t.at.Conversation)
	if err != nil {
		return store.Turn{}, faultOf(err)
	}
	now := standingOf(conversation, t.engine().Workflow())
	ctx, cancel := context.WithTimeoutCause(ctx, w.maxTurn, fmt.Errorf("the turn was ended, because it took longer than %v", w.maxTurn))
	defer cancel()
	if t.request.answers != "" && t.request.answers != now.Asked {
		return store.Turn{}, faultf(http.StatusConflict, "the question that this answers is no longer open; the conversation has gone on")
	}
	answers := w.answers(t, now)
	if t.request.kind == kindAgent && now.Pending == nil || answers && now.Agent != nil {
		return w.plan(ctx, t, now)
	}
	o, err := w.command(ctx, t, now, answers)
	if err != nil {
		return store.Turn{}, faultOf(err)
	}
	after := standing{Path: o.Path, Question: o.Question, Pending: o.Pending}
	form := json.RawMessage(nil)
	switch {
	case o.Pending != nil:
		after.Asked, form = t.name(), o.Pending.Form
	case o.Status == command.Cancelled:
		after.Question = ""
	case !answers && samePath(now.Path, o.Path) && !now.about(o.Output.CommandName):
		after = now // what is named exactly leaves a question as it is, unless it has gone elsewhere
	}
	return store.Turn{Status: string(o.Status), Summary: cut.After(o.Text(), maxSummary), Output: wire.MustEncode(w.resultOf(t, o, form)), State: wire.MustEncode(after)}, nil
}

// answers reports whether a turn is to answer the question that waits, whoever asked it and by which operation. What
// names a command and is to be exact does not.
func (w *worker) answers(t *turn, now standing) bool {
	if now.Question == "" {
		return false
	}
	_, slashed := t.engine().Slashed(now.Path, t.request.text)
	slashed = slashed && (now.Pending == nil || !now.Pending.Offers(t.request.text))
	switch t.request.kind {
	case kindAgent:
		return true
	case kindAssistant:
		return !slashed || t.request.answers != ""
	}
	return t.request.answers != "" || t.request.kind == kindCommand && !t.request.confirmed && !slashed &&
		!strings.Contains(t.request.text, "<") && !t.engine().Names(now.Path, t.request.text)
}

// command carries out a command or an instruction, or answers a question.
func (w *worker) command(ctx context.Context, t *turn, now standing, answers bool) (*command.Outcome, error) {
	opts := command.CallOptions{Confirmed: t.request.confirmed, Trace: t.note, Seen: func() []json.RawMessage { return w.seen(ctx, t) }}
	var o *command.Outcome
	var err error
	switch {
	case answers:
		pending := *now.Pending
		if t.request.kind == kindCommand && t.request.answers == "" {
			pending.Inferred = true // it may be a command that was mistyped
		}
		opts.Corrections = w.corrections(ctx, t, t.served.version)
		o, err = w.answer(ctx, t, now.Path, pending, t.request.text, opts)
	case t.request.kind == kindAssistant:
		opts.Corrections = w.corrections(ctx, t, t.served.version)
		o, err = t.engine().Assist(ctx, now.Path, t.request.text, opts)
	case t.request.action != nil:
		o, err = t.engine().Run(ctx, now.Path, *t.request.action, opts)
	default:
		o, err = t.engine().Execute(ctx, now.Path, t.request.text, opts)
	}
	opts.Confirmed = false
	for range maxAsked {
		if err != nil || o.Status != command.AwaitingUser || t.ask == nil {
			break
		}
		reply, agreed, askErr := t.ask(ctx, o.Question, o.Pending.Form)
		if askErr != nil {
			break // the question stays, for the next turn to answer
		}
		if !agreed {
			reply = command.Abort
		}
		o, err = w.answer(ctx, t, o.Path, *o.Pending, reply, opts)
	}
	return o, err
}

// maxAsked is how often a turn asks the user before it leaves the question to the next.
const maxAsked = 5

// answer goes on with a question, and keeps what was learnt of the instruction that led to it.
func (w *worker) answer(ctx context.Context, t *turn, at command.Path, pending command.Pending, reply string, opts command.CallOptions) (*command.Outcome, error) {
	_, slashed := t.engine().Slashed(at, reply)
	o, err := t.engine().Answer(ctx, at, pending, reply, opts)
	if err != nil || o.Status != command.Completed || o.Output.CommandName == nil || pending.Query == "" || slashed {
		return o, err
	}
	if pending.Means(*o.Output.CommandName) {
		learnt := store.Correction{Utterance: pending.Query, Command: *o.Output.CommandName}
		if err := w.store.SaveCorrection(ctx, t.at.owner, w.workflow, t.served.version, learnt); err != nil {
			concerning(w.log.Warn(), t.request.kind, t.at, t.name()).AnErr(logkey.Err, err).Msg("what a user has confirmed was not kept")
		}
	}
	return o, nil
}

// plan leaves the turn to the agent.
func (w *worker) plan(ctx context.Context, t *turn, now standing) (store.Turn, *Fault) {
	if t.agent == nil {
		return store.Turn{}, faultf(http.StatusConflict, "the agent asked the open question, and needs a model, which is not configured here; write a command with a / in front to do something else")
	}
	said, err := w.said(ctx, t.at, remembered)
	if err != nil {
		return store.Turn{}, faultOf(err)
	}
	query, _ := t.engine().Slashed(now.Path, t.request.text) // a slash out of habit from the assistant
	r, err := t.agent.Run(ctx, AgentRequest{Engine: t.engine(), Path: now.Path, Query: query, State: now.Agent, History: said, Trace: t.note, Text: t.say, Ask: t.ask})
	if err != nil {
		f := faultOf(err)
		f.Code = max(f.Code, http.StatusInternalServerError) // commands may have run
		return store.Turn{}, f
	}
	r.Output.Traces = nil
	o := &command.Outcome{Status: r.Status, Output: r.Output, Path: r.Path, Question: r.Question}
	after := standing{Path: r.Path, Question: r.Question, Agent: r.State}
	if r.Question != "" {
		after.Asked = t.name()
	}
	return store.Turn{Status: string(r.Status), Summary: cut.After(r.Output.CommandResponses[0].Response, maxSummary), Output: wire.MustEncode(w.resultOf(t, o, r.Form)), State: wire.MustEncode(after)}, nil
}

// maxSummary is how many characters of what was answered are worth remembering.
const maxSummary = 2000

// halted is the end of a turn that was stopped. What was done before is said, and of what was under way that nobody
// knows.
func (w *worker) halted(ctx context.Context, t *turn) (store.Turn, *Fault) {
	conversation, err := w.store.Conversation(ctx, t.at.owner, t.at.Conversation)
	if err != nil {
		return store.Turn{}, faultOf(err)
	}
	now := standingOf(conversation, t.engine().Workflow())
	text := "Stopped." + t.account()
	o := &command.Outcome{Status: command.Cancelled, Path: now.Path, Output: command.CommandOutput{
		WorkflowName: t.engine().Workflow().Name, Context: t.engine().Workflow().Title(now.Path), CommandParameters: json.RawMessage("null"),
		CommandResponses: []command.CommandResponse{{Response: text}}}}
	return store.Turn{Status: string(o.Status), Summary: cut.After(text, maxSummary), Output: wire.MustEncode(w.resultOf(t, o, nil)), State: wire.MustEncode(standing{Path: now.Path})}, nil
}
