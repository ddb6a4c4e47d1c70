package commandsrv

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/store"
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

// turnResult is the result of invoke_assistant and invoke_agent, without its traces.
type turnResult struct {
	TurnKey string         `json:"turn_key"`
	Status  command.Status `json:"status"`
	command.CommandOutput
	*command.Problem
	Question string          `json:"question,omitempty"`
	Form     json.RawMessage `json:"form,omitempty"`
}

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
	if t.request.kind == kindAgent {
		return s.plan(ctx, t, now)
	}
	o, err := s.command(ctx, t, now)
	if err != nil {
		return store.Turn{}, faultOf(err)
	}
	after := standing{Path: o.Path, Question: o.Question, Pending: o.Pending}
	if o.Pending != nil {
		after.Asked = t.name()
	}
	var output any
	form := json.RawMessage(nil)
	if o.Pending != nil {
		form = o.Pending.Form
	}
	if t.request.kind == kindAssistant {
		output = turnResult{t.name(), o.Status, o.Output, o.Problem, o.Question, form}
	} else {
		output = commandResult{t.name(), o.Status, o.Output.Context, o.Result(), o.Question, form}
		// An exact command leaves nothing behind to be answered, and a question
		// that waits as it is, unless it has gone elsewhere.
		after = standing{Path: o.Path}
		if samePath(now.Path, o.Path) {
			after = now
		}
	}
	return store.Turn{Status: string(o.Status), Summary: clip(o.Text()), Output: encode(output), State: encode(after)}, nil
}

func samePath(a, b command.Path) bool {
	return slices.EqualFunc(a, b, func(a, b command.Place) bool { return string(encode(a)) == string(encode(b)) })
}

// command carries out an exact command or an instruction.
func (s *Server) command(ctx context.Context, t *turn, now standing) (*command.Outcome, error) {
	opts := command.CallOptions{Confirmed: t.request.confirmed, Trace: t.note}
	if t.request.kind != kindAssistant {
		return s.engine.Execute(ctx, now.Path, t.request.text, opts)
	}
	opts.Corrections = s.corrections(ctx, t)
	var o *command.Outcome
	var err error
	if now.Pending != nil {
		o, err = s.answer(ctx, t, now.Path, *now.Pending, t.request.text, opts)
	} else {
		o, err = s.engine.Assist(ctx, now.Path, t.request.text, opts)
	}
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
	o, err := s.engine.Answer(ctx, at, pending, reply, opts)
	if err != nil || o.Status != command.Completed || o.Output.CommandName == nil || pending.Query == "" || strings.HasPrefix(strings.TrimSpace(reply), "/") {
		return o, err
	}
	if pending.Kind == command.AskChoice || pending.Kind == command.AskConfirm && pending.Inferred {
		learnt := store.Correction{Utterance: pending.Query, Command: *o.Output.CommandName}
		if err := s.store.SaveCorrection(ctx, t.at.owner, s.workflow, s.version, learnt); err != nil {
			s.opts.Logger.Warn().AnErr(logkey.Err, err).Msg("what a user has confirmed was not kept")
		}
	}
	return o, nil
}

// corrections are what the user has confirmed before. Without them an
// instruction is only understood less well.
func (s *Server) corrections(ctx context.Context, t *turn) []command.Correction {
	kept, err := s.store.Corrections(ctx, t.at.owner, s.workflow, s.version)
	if err != nil {
		s.opts.Logger.Warn().AnErr(logkey.Err, err).Msg("what a user has confirmed cannot be read")
	}
	list := make([]command.Correction, len(kept))
	for i, c := range kept {
		list[i] = command.Correction{Utterance: c.Utterance, Command: c.Command, Wrong: c.Veto}
	}
	return list
}

// plan leaves the turn to the agent.
func (s *Server) plan(ctx context.Context, t *turn, now standing) (store.Turn, *Fault) {
	said, err := s.said(ctx, t.at, remembered)
	if err != nil {
		return store.Turn{}, faultOf(err)
	}
	r, err := t.agent.Run(ctx, AgentRequest{Engine: s.engine, Path: now.Path, Query: t.request.text, State: now.Agent, History: said, Trace: t.note, Ask: t.ask})
	if err != nil {
		f := faultOf(err)
		f.Code = max(f.Code, http.StatusInternalServerError) // commands may have run
		return store.Turn{}, f
	}
	text := ""
	for _, response := range r.Output.CommandResponses {
		text += response.Response
	}
	r.Output.Traces = nil
	output := turnResult{TurnKey: t.name(), Status: r.Status, CommandOutput: r.Output, Question: r.Question, Form: r.Form}
	return store.Turn{Status: string(r.Status), Summary: clip(text), Output: encode(output),
		State: encode(standing{Path: r.Path, Question: r.Question, Agent: r.State})}, nil
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
		if t.Kind != kindStartup {
			said = append(said, Exchange{t.Message, t.Summary})
		}
	}
	return said, nil
}

// clip shortens what was answered to what is worth remembering.
func clip(text string) string {
	const most = 2000
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
