package commandsrv

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// errStopped is why a turn ends that its user has stopped.
var errStopped = errors.New("the turn was stopped")

func (t *turn) stopped() bool { return context.Cause(t.ctx) == errStopped }

// aborts reports whether a request is the command that gives up what goes on.
func (r request) aborts() bool {
	text := r.text
	if r.action != nil {
		text = r.action.CommandName
	}
	return strings.EqualFold(strings.Trim(text, " \t\r\n/"), command.Abort)
}

// halted is the end of a turn that was stopped. What was done before is said, and
// of what was under way that nobody knows.
func (s *Server) halted(t *turn) (store.Turn, *Fault) {
	conversation, err := s.store.Conversation(s.life, t.at.owner, t.at.Conversation)
	if err != nil {
		return store.Turn{}, faultOf(err)
	}
	now := s.standing(conversation)
	text := "Stopped." + t.account()
	o := &command.Outcome{Status: command.Cancelled, Path: now.Path, Output: command.CommandOutput{
		WorkflowName: s.engine().Workflow().Name, Context: s.engine().Workflow().Title(now.Path), CommandParameters: json.RawMessage("null"),
		CommandResponses: []command.CommandResponse{{Response: text}}}}
	return store.Turn{Status: string(o.Status), Summary: cut.After(text, maxSummary), Output: wire.MustEncode(s.resultOf(t, o, nil)), State: wire.MustEncode(standing{Path: now.Path})}, nil
}

// account says what a turn that was cut off has done, and what was under way, in
// sentences behind another one.
func (t *turn) account() (text string) {
	var done []string
	under := ""
	for _, ev := range t.traces() {
		switch {
		case ev.CommandName == nil:
		case ev.Direction == command.ToWorkflow:
			under = *ev.CommandName
		default:
			if under = ""; ev.Success != nil && *ev.Success && !slices.Contains(done, *ev.CommandName) {
				done = append(done, *ev.CommandName)
			}
		}
	}
	if len(done) > 0 {
		text += " Done before that, and not taken back: " + strings.Join(done, ", ") + "."
	}
	if under != "" {
		text += " " + under + " was under way; whether it was carried out is not known."
	}
	return text
}

// running finds a turn that this process works on, nil if it works on none of
// that name for the owner.
func (s *Server) running(owner, key string) *turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	for at, t := range s.turns {
		if at.owner == owner && t.name() == key && !t.over() {
			return t
		}
	}
	return nil
}

// ownerIn is whose turns a request is about: an administrator's session says for
// whom they act, and may itself be over.
func ownerIn(c *caller, r *http.Request) string {
	if handle := r.URL.Query().Get("session_id"); handle != "" {
		if named, _, ok := ownerOf(c.who, handle); ok {
			return named
		}
	}
	return c.who.Name
}

// stopTurn stops a turn and tells what has become of it. One that is over stays as
// it is.
func (s *Server) stopTurn(w http.ResponseWriter, r *http.Request, key string) {
	c := callerOf(r)
	owner := ownerIn(c, r)
	if t := s.running(owner, key); t != nil {
		t.stop(errStopped)
		t.watch(r.Context(), nil)
	} else if found, err := s.result(r.Context(), owner, key); err == nil && found.Progress == store.Running {
		f := faultf(http.StatusConflict, "another process of workbench works on the turn, and that alone can stop it; wait for it, or ask again, so that the request may reach that one")
		f.Data = FaultData{UserID: owner, TurnKey: key}
		writeFault(w, f)
		return
	}
	s.serveTurn(w, r, key)
}

// serveEvents tells of a turn as it goes on, from its beginning, whoever began it.
func (s *Server) serveEvents(w http.ResponseWriter, r *http.Request, key string) {
	c := callerOf(r)
	owner := ownerIn(c, r)
	st, ctx := newStream(w, r)
	defer st.gone()
	t := s.running(owner, key)
	if t == nil {
		found, err := s.result(r.Context(), owner, key)
		if err != nil {
			s.noTurn(w, owner, key, err)
			return
		}
		// It is over, or another process works on it.
		t = &turn{key: key, at: session{place: place{owner: owner}}, more: make(chan struct{}), done: make(chan struct{})}
		t.at.Conversation = found.Conversation
		t.output, t.fault = s.follow(ctx, t)
		close(t.done)
	}
	if !t.watch(ctx, st.tell) {
		return
	}
	if t.fault != nil {
		st.send("error", wire.MustEncode(t.fault))
		return
	}
	st.send("output", t.output)
}
