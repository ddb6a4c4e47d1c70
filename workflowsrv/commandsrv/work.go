package commandsrv

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

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

// resultOf is the result of an operation that carries out a command or an instruction.
func (s *Server) resultOf(t *turn, o *command.Outcome, form json.RawMessage) any {
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
	if o.Output.CommandName != nil && len(s.engine().Workflow().Command(*o.Output.CommandName).Outputs) == 0 && o.Structured != nil {
		r.Artifacts = nil
	}
	return runResult{r, o.Output.CommandName, o.Output.CommandParameters, o.Structured, o.Content}
}

// engineFor runs the commands of a turn for whose session it is.
func (s *Server) engineFor(t *turn) *command.Engine { return s.engine().For(t.at.owner) }

// work does what a turn is for, from where its conversation stands.
func (s *Server) work(ctx context.Context, t *turn) (store.Turn, *Fault) {
	conversation, err := s.store.Conversation(ctx, t.at.owner, t.at.Conversation)
	if err != nil {
		return store.Turn{}, faultOf(err)
	}
	now := s.standing(conversation)
	ctx, cancel := context.WithTimeoutCause(ctx, s.opts.MaxTurn, fmt.Errorf("the turn was ended, because it took longer than %v", s.opts.MaxTurn))
	defer cancel()
	if t.request.answers != "" && t.request.answers != now.Asked {
		return store.Turn{}, faultf(http.StatusConflict, "the question that this answers waits no longer; the conversation has gone on")
	}
	answers := s.answers(t, now)
	if t.request.kind == kindAgent && now.Pending == nil || answers && now.Agent != nil {
		return s.plan(ctx, t, now)
	}
	o, err := s.command(ctx, t, now, answers)
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
	return store.Turn{Status: string(o.Status), Summary: cut.After(o.Text(), maxSummary), Output: wire.MustEncode(s.resultOf(t, o, form)), State: wire.MustEncode(after)}, nil
}

// answers reports whether a turn is to answer the question that waits, whoever
// asked it and by which operation. What names a command and is to be exact does
// not.
func (s *Server) answers(t *turn, now standing) bool {
	if now.Question == "" {
		return false
	}
	slashed := strings.HasPrefix(strings.TrimSpace(t.request.text), "/")
	switch t.request.kind {
	case kindAgent:
		return true
	case kindAssistant:
		return now.Pending != nil || !slashed || t.request.answers != ""
	}
	return t.request.answers != "" || t.request.kind == kindCommand && !t.request.confirmed && !slashed &&
		!strings.Contains(t.request.text, "<") && !s.engine().Names(now.Path, t.request.text)
}

// about reports whether the question that waits is about a command.
func (now standing) about(name *string) bool {
	return now.Pending != nil && name != nil && now.Pending.Action.CommandName == *name
}

func samePath(a, b command.Path) bool {
	return slices.EqualFunc(a, b, func(a, b command.Place) bool { return string(wire.MustEncode(a)) == string(wire.MustEncode(b)) })
}

// command carries out a command or an instruction, or answers a question.
func (s *Server) command(ctx context.Context, t *turn, now standing, answers bool) (*command.Outcome, error) {
	opts := command.CallOptions{Confirmed: t.request.confirmed, Trace: t.note, Seen: func() []json.RawMessage { return s.seen(ctx, t) }}
	var o *command.Outcome
	var err error
	switch {
	case answers:
		pending := *now.Pending
		if t.request.kind == kindCommand && t.request.answers == "" {
			pending.Inferred = true // it may be a command that was mistyped
		}
		opts.Corrections = s.corrections(ctx, t)
		o, err = s.answer(ctx, t, now.Path, pending, t.request.text, opts)
	case t.request.kind == kindAssistant:
		opts.Corrections = s.corrections(ctx, t)
		o, err = s.engineFor(t).Assist(ctx, now.Path, t.request.text, opts)
	case t.request.action != nil:
		o, err = s.engineFor(t).Run(ctx, now.Path, *t.request.action, opts)
	default:
		o, err = s.engineFor(t).Execute(ctx, now.Path, t.request.text, opts)
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
		o, err = s.answer(ctx, t, o.Path, *o.Pending, reply, opts)
	}
	return o, err
}

// maxAsked is how often a turn asks the user before it leaves the question to
// the next.
const maxAsked = 5

// answer goes on with a question, and keeps what was learnt of the
// instruction that led to it.
func (s *Server) answer(ctx context.Context, t *turn, at command.Path, pending command.Pending, reply string, opts command.CallOptions) (*command.Outcome, error) {
	o, err := s.engineFor(t).Answer(ctx, at, pending, reply, opts)
	if err != nil || o.Status != command.Completed || o.Output.CommandName == nil || pending.Query == "" || strings.HasPrefix(strings.TrimSpace(reply), "/") {
		return o, err
	}
	if pending.Kind == command.AskChoice || pending.Kind == command.AskConfirm && pending.Inferred {
		learnt := store.Correction{Utterance: pending.Query, Command: *o.Output.CommandName}
		if err := s.store.SaveCorrection(ctx, t.at.owner, s.workflow, s.served.Load().version, learnt); err != nil {
			s.concerning(s.opts.Logger.Warn(), t.request.kind, t.at, t.name()).AnErr(logkey.Err, err).Msg("what a user has confirmed was not kept")
		}
	}
	return o, nil
}

// seen are the results of the last turns, the latest first. Without them an
// instruction is only understood less well.
func (s *Server) seen(ctx context.Context, t *turn) []json.RawMessage {
	turns, err := s.store.Turns(ctx, t.at.owner, t.at.Conversation, remembered)
	if err != nil {
		s.opts.Logger.Warn().AnErr(logkey.Err, err).Msg("what was said before cannot be read")
	}
	var results []json.RawMessage
	for _, turn := range slices.Backward(turns) {
		var r struct {
			Artifacts  json.RawMessage `json:"artifacts"`
			Structured json.RawMessage `json:"structured_content"`
			Responses  []struct {
				Artifacts json.RawMessage `json:"artifacts"`
			} `json:"command_responses"`
		}
		if json.Unmarshal(turn.Output, &r) != nil {
			continue // one that failed has none
		}
		results = append(results, r.Structured, r.Artifacts)
		for _, response := range r.Responses {
			results = append(results, response.Artifacts)
		}
	}
	return slices.DeleteFunc(results, func(r json.RawMessage) bool { return len(r) == 0 })
}

// corrections are what the user has confirmed before. Without them an
// instruction is only understood less well.
func (s *Server) corrections(ctx context.Context, t *turn) []command.Correction {
	kept, err := s.store.Corrections(ctx, t.at.owner, s.workflow, s.served.Load().version)
	if err != nil {
		s.concerning(s.opts.Logger.Warn(), t.request.kind, t.at, t.name()).AnErr(logkey.Err, err).Msg("what a user has confirmed cannot be read")
	}
	list := make([]command.Correction, len(kept))
	for i, c := range kept {
		list[i] = command.Correction{Utterance: c.Utterance, Command: c.Command, Wrong: c.Veto}
	}
	return list
}

// plan leaves the turn to the agent.
func (s *Server) plan(ctx context.Context, t *turn, now standing) (store.Turn, *Fault) {
	if t.agent == nil {
		return store.Turn{}, faultf(http.StatusConflict, "the question that waits was asked by the agent, which needs a model, and there is none here; name a command with a / before it to do something else")
	}
	said, err := s.said(ctx, t.at, remembered)
	if err != nil {
		return store.Turn{}, faultOf(err)
	}
	r, err := t.agent.Run(ctx, AgentRequest{Engine: s.engineFor(t), Path: now.Path, Query: t.request.text, State: now.Agent, History: said, Trace: t.note, Text: t.say, Ask: t.ask})
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
	return store.Turn{Status: string(r.Status), Summary: cut.After(r.Output.CommandResponses[0].Response, maxSummary), Output: wire.MustEncode(s.resultOf(t, o, r.Form)), State: wire.MustEncode(after)}, nil
}

// remembered is how many turns back an agent is told what was said.
const remembered = 5

// said gives what was said in the last turns of the conversation.
func (s *Server) said(ctx context.Context, at session, limit int) ([]Exchange, error) {
	turns, err := s.store.Turns(ctx, at.owner, at.Conversation, limit)
	if err != nil {
		return nil, err
	}
	var said []Exchange
	for _, t := range turns {
		if t.Kind != kindStartup && t.Status != store.StatusDamaged {
			said = append(said, Exchange{t.Message, t.Summary, t.Kind == kindAgent && t.Status == string(command.Completed)})
		}
	}
	return said, nil
}

// maxSummary is how many characters of what was answered are worth remembering.
const maxSummary = 2000
