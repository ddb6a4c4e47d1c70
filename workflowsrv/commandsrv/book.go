package commandsrv

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// A book is what is kept of the conversations with a workflow.
type book struct {
	store    *store.Store
	workflow string // what its conversations are kept under
	log      zerolog.Logger
}

// find finds the session of a call. One of another principal is as unknown as one that never was.
func (b *book) find(ctx context.Context, c *caller, a arguments) (session, *Fault) {
	handle := cmp.Or(a.text("session_id"), c.session)
	if handle == "" {
		f := faultf(http.StatusNotFound, "there is no session yet: call initialize, and give the session_id it returns")
		f.Data.UserID = c.who.Name
		return session{}, f
	}
	unknown := faultf(http.StatusNotFound, "there is no such session, or it was idle for too long: call initialize for a new one, which continues the last conversation")
	unknown.Data = FaultData{SessionID: handle, UserID: c.who.Name}
	owner, id, ok := ownerOf(c.who, handle)
	if !ok {
		return session{}, unknown
	}
	found, err := b.store.Session(ctx, owner, id)
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && found.Workflow != b.workflow:
		return session{}, unknown
	case err != nil:
		f := faultOf(err)
		f.Data = unknown.Data
		return session{}, f
	}
	return session{place{owner, id}, found, handle}, nil
}

// result finds a turn of a conversation with this workflow: those with others are kept in the same place, and are not
// for who may only use this one.
func (b *book) result(ctx context.Context, owner, key string) (store.Result, error) {
	found, err := b.store.Result(ctx, owner, key)
	if err != nil {
		return store.Result{}, err
	}
	conversation, err := b.store.Conversation(ctx, owner, found.Conversation)
	if err == nil && conversation.Workflow != b.workflow {
		err = store.ErrNotFound
	}
	return found, err
}

// seen are the results of the last turns, the latest first. Without them an instruction is only understood less well.
func (b *book) seen(ctx context.Context, t *turn) []json.RawMessage {
	turns, err := b.store.Turns(ctx, t.at.owner, t.at.Conversation, remembered)
	if err != nil {
		b.log.Warn().AnErr(logkey.Err, err).Msg("what was said before cannot be read")
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

// corrections are what the user has confirmed before. Without them an instruction is only understood less well.
func (b *book) corrections(ctx context.Context, t *turn, version string) []command.Correction {
	kept, err := b.store.Corrections(ctx, t.at.owner, b.workflow, version)
	if err != nil {
		concerning(b.log.Warn(), t.request.kind, t.at, t.name()).AnErr(logkey.Err, err).Msg("what a user has confirmed cannot be read")
	}
	list := make([]command.Correction, len(kept))
	for i, c := range kept {
		list[i] = command.Correction{Utterance: c.Utterance, Command: c.Command, Wrong: c.Veto}
	}
	return list
}

// said gives what was said in the last turns of the conversation.
func (b *book) said(ctx context.Context, at session, limit int) ([]Exchange, error) {
	turns, err := b.store.Turns(ctx, at.owner, at.Conversation, limit)
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

// concerning says in a line of the log which turn it is about, or with key "" which session.
func concerning(line *zerolog.Event, tool string, at session, key string) *zerolog.Event {
	return line.Str(logkey.Tool, tool).Str(logkey.User, at.owner).Str(logkey.Session, at.handle).
		Str(logkey.Conversation, at.Conversation).Str(logkey.Turn, key)
}

// remembered is how many turns back an agent is told what was said.
const remembered = 5
