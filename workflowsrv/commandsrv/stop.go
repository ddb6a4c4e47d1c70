package commandsrv

import (
	"net/http"

	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// ownerIn is whose turns a request is about: an administrator's session says for whom they act, and may itself be over.
func ownerIn(r *http.Request) string {
	c := callerOf(r)
	if handle := r.URL.Query().Get("session_id"); handle != "" {
		if named, _, ok := ownerOf(c.who, handle); ok {
			return named
		}
	}
	return c.who.Name
}

// stopTurn stops a turn and tells what has become of it. One that is over stays as it is.
func (s *Server) stopTurn(w http.ResponseWriter, r *http.Request, key string) {
	owner := ownerIn(r)
	if t := s.latest.running(owner, key); t != nil {
		t.stop(errStopped)
		t.watch(r.Context(), nil)
	} else if found, err := s.result(r.Context(), owner, key); err == nil && found.Progress == store.Running {
		f := faultf(http.StatusConflict, "another process of workbench works on the turn, and only that process can stop it; wait, or ask again, so that the request may reach it")
		f.Data = FaultData{UserID: owner, TurnKey: key}
		writeFault(w, f)
		return
	}
	s.serveTurn(w, r, key)
}

// serveEvents tells of a turn as it goes on, from its beginning, whoever began it.
func (s *Server) serveEvents(w http.ResponseWriter, r *http.Request, key string) {
	owner := ownerIn(r)
	st, ctx := newStream(w, r)
	defer st.gone()
	t := s.latest.running(owner, key)
	if t == nil {
		found, err := s.result(r.Context(), owner, key)
		if err != nil {
			s.noTurn(w, owner, key, err)
			return
		}
		// The turn is over, or another process works on it.
		t = &turn{key: key, at: session{place: place{owner: owner}}, more: make(chan struct{}), done: make(chan struct{})}
		t.at.Conversation = found.Conversation
		st.rest()
		t.output, t.fault = s.follow(ctx, t)
		close(t.done)
	}
	st.rest()
	if !t.watch(ctx, st.tell) {
		return
	}
	if t.fault != nil {
		st.send("error", wire.MustEncode(t.fault))
		return
	}
	st.send("output", t.output)
}
