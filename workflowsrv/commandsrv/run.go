package commandsrv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/pause"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// run is a turn from its start to its end.
func (s *Server) run(t *turn) {
	started := sync.OnceFunc(func() { close(t.started) })
	defer func() {
		t.ended = time.Now()
		if t.fault != nil {
			s.blame(t)
		}
		started()
		close(t.done)
	}()
	flight, err := s.store.Start(s.life, t.at.owner, t.at.Conversation, store.Request{Key: t.name(), Digest: t.digest, Kind: t.request.kind, Message: t.request.text})
	var busy *store.BusyError
	if errors.As(err, &busy) && busy.Digest == t.digest {
		t.mu.Lock()
		t.key = busy.Key
		t.mu.Unlock()
		started()
		t.output, t.fault = s.follow(s.life, t)
		return
	}
	if err != nil {
		t.fault = faultOf(err)
		return
	}
	started()
	kept := false
	defer func() {
		if !kept {
			s.release(t, flight)
		}
	}()
	defer t.stop(nil)
	lost := make(chan struct{})
	defer close(lost)
	go func() {
		select {
		case <-flight.Lost():
			t.stop(store.ErrLost)
		case <-lost:
		}
	}()
	var end store.Turn
	end, t.fault = s.attempt(t.ctx, t)
	if t.fault != nil && t.fault.Code < http.StatusInternalServerError {
		return // nothing was done
	}
	if t.fault != nil {
		t.fault.about(t.at).Data.TurnKey = t.name()
		end.Status, end.Output = "failed", wire.MustEncode(t.fault)
	}
	for _, ev := range t.traces() {
		end.Traces = append(end.Traces, wire.MustEncode(ev))
	}
	if t.fault == nil {
		t.output = end.Output
	}
	if err := s.finish(flight, end); err != nil {
		t.output, t.fault = nil, faultOf(fmt.Errorf("the turn is over, but it could not be kept: %w", err))
		t.fault.Data.TurnKey = t.name()
		return
	}
	kept = true
}

// blame completes the fault of a turn, and logs it where it is not the caller's.
func (s *Server) blame(t *turn) {
	t.fault.about(t.at)
	if t.fault.Code < http.StatusInternalServerError {
		return
	}
	s.concerning(s.opts.Logger.Error(), t.request.kind, t.at, t.name()).AnErr(logkey.Err, t.fault).Msg("a turn failed")
}

// concerning says in a line of the log which turn it is about, or with key "" which session.
func (s *Server) concerning(line *zerolog.Event, tool string, at session, key string) *zerolog.Event {
	return line.Str(logkey.Tool, tool).Str(logkey.User, at.owner).Str(logkey.Session, at.handle).
		Str(logkey.Conversation, at.Conversation).Str(logkey.Turn, key)
}

// attempt is work of which a panic costs this turn alone.
func (s *Server) attempt(ctx context.Context, t *turn) (end store.Turn, f *Fault) {
	defer func() {
		if p := recover(); p != nil {
			s.concerning(s.opts.Logger.Error(), t.request.kind, t.at, t.name()).Interface(logkey.Panic, p).Bytes(logkey.Stack, debug.Stack()).Msg("a turn failed within")
			end, f = store.Turn{}, faultf(http.StatusInternalServerError, "this is a fault of the server; its log says more")
		}
	}()
	end, f = s.work(ctx, t)
	switch {
	case f == nil || f.Code < http.StatusInternalServerError || ctx.Err() == nil:
		return end, f
	case t.stopped():
		return s.halted(t)
	}
	f = faultOf(context.Cause(ctx)) // which says more than that it was cancelled
	if more := t.account(); more != "" {
		f.Message += "." + more
	}
	return end, f
}

const (
	// finishTime is how long a turn that is over may take to be kept.
	finishTime = 15 * time.Second
	pollEvery  = 200 * time.Millisecond
)

// finish keeps a turn. It is tried again for a while: its work is done.
func (s *Server) finish(flight *store.Flight, end store.Turn) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.life), finishTime)
	defer cancel()
	for {
		_, err := flight.Finish(ctx, end)
		var unwritten *store.WriteError
		var away *store.UnreachableError
		if !errors.As(err, &unwritten) && !errors.As(err, &away) {
			return err
		}
		select {
		case <-time.After(pollEvery):
		case <-ctx.Done():
			return err
		case <-s.life.Done():
			return err
		}
	}
}

// release gives a conversation back, whatever becomes of the turn.
func (s *Server) release(t *turn, flight *store.Flight) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.life), finishTime)
	defer cancel()
	if err := flight.Release(ctx); err != nil {
		s.concerning(s.opts.Logger.Warn(), t.request.kind, t.at, t.name()).AnErr(logkey.Err, err).Msg("a conversation could not be given back")
	}
}

// follow waits for a turn that the same request has begun in another process.
func (s *Server) follow(ctx context.Context, t *turn) (json.RawMessage, *Fault) {
	for {
		r, err := s.store.Result(ctx, t.at.owner, t.name())
		switch {
		case err != nil:
			return nil, faultOf(err)
		case r.Progress == store.Lost:
			return nil, faultf(http.StatusInternalServerError, "the process that worked on the turn ended before it did; what it has done is unknown")
		case r.Progress == store.Done:
			for _, raw := range r.Turn.Traces {
				var ev command.TraceEvent
				if json.Unmarshal(raw, &ev) == nil {
					t.note(ev)
				}
			}
			return endOf(r.Turn)
		}
		if err := pause.For(ctx, pollEvery); err != nil {
			return nil, faultOf(err)
		}
	}
}

// endOf gives the output of a turn as it was kept, or its fault.
func endOf(t store.Turn) (json.RawMessage, *Fault) {
	if t.Status == "failed" {
		f := new(Fault)
		if err := json.Unmarshal(t.Output, f); err != nil {
			return nil, faultOf(err)
		}
		return nil, f
	}
	return t.Output, nil
}
