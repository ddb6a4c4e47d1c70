package commandsrv

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// The kinds of turn.
const (
	kindStartup   = "startup"
	kindCommand   = "execute_command"
	kindAssistant = "invoke_assistant"
	kindAgent     = "invoke_agent"
)

const (
	defaultWait = 60 * time.Second
	// resultTTL is how long the result of a turn that nobody waited for is kept
	// at hand for the request that began it.
	resultTTL = time.Hour
	pollEvery = 200 * time.Millisecond
)

// A request is what a turn is to do.
type request struct {
	kind, text string
	confirmed  bool
	answers    string // the turn whose question text answers, if that is known
}

// digest tells the request from others of the session.
func (r request) digest(at session) string {
	h := sha256.New()
	for _, part := range []string{at.owner, at.place.session, r.kind, r.text, r.answers} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(append(h.Sum(nil)[:16], strconv.FormatBool(r.confirmed)[0]))
}

// A turn is a request under way, and then its result. It belongs to its
// session, not to the callers that wait for it.
type turn struct {
	digest  string
	at      session
	request request
	ask     asker // of the caller that began it
	agent   Agent // that serves it, nil where there is none

	done   chan struct{} // closed when it is over; then output and fault stand
	output json.RawMessage
	fault  *Fault
	ended  time.Time

	mu     sync.Mutex // guards what follows
	key    string
	events []command.TraceEvent
	more   chan struct{} // closed and replaced when there are more events
	heard  bool          // a caller got the result
}

// note takes an event of the turn.
func (t *turn) note(ev command.TraceEvent) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events = append(t.events, ev)
	close(t.more)
	t.more = make(chan struct{})
}

// since gives the events from the n-th on, and what is closed when there are more.
func (t *turn) since(n int) ([]command.TraceEvent, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.events[n:], t.more
}

// name gives the turn_key.
func (t *turn) name() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.key
}

func (t *turn) over() bool {
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}

// owes reports whether the turn is what a caller with the same request is to
// get: it is under way, or nobody was there to hear its result.
func (t *turn) owes(digest string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.digest == digest && !t.heard
}

// begin begins a turn, or joins the one that the same request has begun.
func (s *Server) begin(c *caller, at session, r request) (*turn, *Fault) {
	digest := r.digest(at)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweepLocked()
	if last := s.turns[at.place]; last != nil {
		if last.owes(digest) {
			return last, nil
		}
		if !last.over() {
			f := faultOf(&store.BusyError{Key: last.name()})
			return nil, f.about(at)
		}
	}
	if s.closed {
		return nil, faultOf(errClosed).about(at)
	}
	t := &turn{key: store.NewID(), digest: digest, at: at, request: r, ask: c.ask, agent: s.agentFor(c),
		done: make(chan struct{}), more: make(chan struct{})}
	s.turns[at.place] = t
	s.owed.Go(func() { s.run(t) })
	return t, nil
}

// busy is the fault of what cannot be done while a turn is under way.
func (s *Server) busy(at session) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.turns[at.place]; t != nil && !t.over() {
		return faultOf(&store.BusyError{Key: t.name()}).about(at)
	}
	return nil
}

// sweepLocked forgets results that nobody came back for.
func (s *Server) sweepLocked() {
	now := time.Now()
	if now.Sub(s.swept) < time.Minute {
		return
	}
	s.swept = now
	for at, t := range s.turns {
		if t.over() && now.Sub(t.ended) > resultTTL {
			delete(s.turns, at)
		}
	}
}

// carryOut begins a turn, or joins it, and waits for its result.
func (s *Server) carryOut(ctx context.Context, c *caller, at session, r request, wait time.Duration) (json.RawMessage, *Fault) {
	ctx, cancel := context.WithTimeoutCause(ctx, wait, errWait)
	defer cancel()
	c.ask, c.sample = c.ask.within(ctx), c.sample.within(ctx)
	t, f := s.begin(c, at, r)
	if f != nil {
		return nil, f
	}
	return s.await(ctx, c, t)
}

var errWait = errors.New("the time to wait is over")

// await waits for the result of a turn, handing on its events.
func (s *Server) await(ctx context.Context, c *caller, t *turn) (json.RawMessage, *Fault) {
	told := 0
	for {
		events, more := t.since(told)
		for _, ev := range events {
			if c.trace != nil {
				c.trace(ev)
			}
		}
		told += len(events)
		if t.over() {
			if rest, _ := t.since(told); len(rest) > 0 {
				continue
			}
			return s.deliver(ctx, c, t)
		}
		select {
		case <-more:
		case <-t.done:
		case <-ctx.Done():
			f := faultf(http.StatusGatewayTimeout, "the turn takes longer than the time to wait; it goes on: send the same request again to wait for it, or over HTTP GET turns/%s", t.name()).about(t.at)
			f.Data.TurnKey = t.name()
			return nil, f
		}
	}
}

// deliver gives the result of a turn that is over.
func (s *Server) deliver(ctx context.Context, c *caller, t *turn) (json.RawMessage, *Fault) {
	if ctx.Err() == nil {
		t.mu.Lock()
		t.heard = true
		t.mu.Unlock()
		s.mu.Lock()
		if s.turns[t.at.place] == t {
			delete(s.turns, t.at.place)
		}
		s.mu.Unlock()
	}
	if t.fault != nil {
		return nil, t.fault
	}
	if c.trace != nil {
		return t.output, nil
	}
	events, _ := t.since(0)
	return withTraces(t.output, encode(append([]command.TraceEvent{}, events...))), nil
}

// withTraces puts the events of a turn into its output.
func withTraces(output, traces json.RawMessage) json.RawMessage {
	out := append(json.RawMessage{}, output[:len(output)-1]...)
	return append(append(append(out, `,"traces":`...), traces...), '}')
}

// run is a turn from its start to its end.
func (s *Server) run(t *turn) {
	defer func() {
		t.ended = time.Now()
		if t.fault != nil {
			s.blame(t)
		}
		close(t.done)
	}()
	flight, err := s.store.Start(s.life, t.at.owner, t.at.Conversation, store.Request{Key: t.name(), Digest: t.digest, Kind: t.request.kind, Message: t.request.text})
	var busy *store.BusyError
	if errors.As(err, &busy) && busy.Digest == t.digest {
		t.mu.Lock()
		t.key = busy.Key
		t.mu.Unlock()
		t.output, t.fault = s.follow(s.life, t)
		return
	}
	if err != nil {
		t.fault = faultOf(err)
		return
	}
	kept := false
	defer func() {
		if !kept {
			s.release(flight)
		}
	}()
	ctx, stop := context.WithCancelCause(s.life)
	defer stop(nil)
	lost := make(chan struct{})
	defer close(lost)
	go func() {
		select {
		case <-flight.Lost():
			stop(store.ErrLost)
		case <-lost:
		}
	}()
	var end store.Turn
	end, t.fault = s.attempt(ctx, t)
	if t.fault != nil && t.fault.Code < http.StatusInternalServerError {
		return // nothing was done
	}
	if t.fault != nil {
		t.fault.about(t.at).Data.TurnKey = t.name()
		end.Status, end.Output = "failed", encode(t.fault)
	}
	events, _ := t.since(0)
	for _, ev := range events {
		end.Traces = append(end.Traces, encode(ev))
	}
	if t.fault == nil {
		t.output = end.Output
	}
	if err := s.finish(flight, end); err != nil {
		t.output, t.fault = nil, faultOf(fmt.Errorf("the turn is over, but it could not be kept: %w", err))
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
	s.opts.Logger.Error().Str(logkey.Tool, t.request.kind).AnErr(logkey.Err, t.fault).Msg("a turn failed")
}

// attempt is work of which a panic costs this turn alone.
func (s *Server) attempt(ctx context.Context, t *turn) (end store.Turn, f *Fault) {
	defer func() {
		if p := recover(); p != nil {
			s.opts.Logger.Error().Str(logkey.Tool, t.request.kind).Interface(logkey.Panic, p).Bytes(logkey.Stack, debug.Stack()).Msg("a turn failed within")
			end, f = store.Turn{}, faultf(http.StatusInternalServerError, "this is a fault of the server; its log says more")
		}
	}()
	return s.work(ctx, t)
}

// finishTime is how long a turn that is over may take to be kept.
const finishTime = 15 * time.Second

// finish keeps a turn. It is tried again for a while: its work is done.
func (s *Server) finish(flight *store.Flight, end store.Turn) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.life), finishTime)
	defer cancel()
	for {
		_, err := flight.Finish(ctx, end)
		var unwritten *store.WriteError
		if !errors.As(err, &unwritten) {
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
func (s *Server) release(flight *store.Flight) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.life), finishTime)
	defer cancel()
	if err := flight.Release(ctx); err != nil {
		s.opts.Logger.Warn().AnErr(logkey.Err, err).Msg("a conversation could not be given back")
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
		select {
		case <-time.After(pollEvery):
		case <-ctx.Done():
			return nil, faultOf(context.Cause(ctx))
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
