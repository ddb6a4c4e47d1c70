package commandsrv

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/mcpserve"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// The kinds of turn.
const (
	kindStartup   = "startup"
	kindCommand   = "execute_command"
	kindRun       = "run_command"
	kindAssistant = "invoke_assistant"
	kindAgent     = "invoke_agent"
)

const (
	defaultWait = 60 * time.Second
	// resultTTL is how long the result of a turn that nobody waited for is kept
	// at hand for the request that began it.
	resultTTL = time.Hour
)

// A request is what a turn is to do.
type request struct {
	kind, text string
	action     *command.Action // of run_command, in place of text
	confirmed  bool
	answers    string // the turn whose question text answers, if that is known
}

// digest tells the request from others of the session.
func (r request) digest(at session) string {
	h := sha256.New()
	var run command.Action
	if r.action != nil {
		run = *r.action
	}
	for _, part := range []string{at.owner, at.place.session, r.kind, r.text, r.answers, run.CommandName, string(run.Arguments)} {
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

	ctx  context.Context // of its work, which outlives the calls that wait for it
	stop context.CancelCauseFunc

	started chan struct{} // closed when the store knows it, or it is over
	done    chan struct{} // closed when it is over; then output and fault stand
	output  json.RawMessage
	fault   *Fault
	ended   time.Time

	mu     sync.Mutex // guards what follows
	key    string
	events []event
	said   int           // what the text among them counts
	more   chan struct{} // closed and replaced when there are more events
	heard  bool          // a caller got the result
	waits  int           // callers that wait for it
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
	return t.digest == digest && !t.heard && !(t.over() && t.stopped())
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
		if !last.over() && r.aborts() {
			last.stop(errStopped)
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
		started: make(chan struct{}), done: make(chan struct{}), more: make(chan struct{})}
	t.ctx, t.stop = context.WithCancelCause(s.life)
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
	t.wait(1)
	defer t.wait(-1)
	if t.watch(ctx, c.tell) {
		return s.deliver(ctx, c, t)
	}
	cause := context.Cause(ctx)
	if errors.Is(cause, mcpserve.ErrCancelled) && t.wait(0) == 1 {
		t.stop(errStopped) // nobody else waits
	}
	if cause == errWait {
		<-t.started // so that GET turns/KEY finds it
	}
	f := faultf(http.StatusGatewayTimeout, "the turn takes longer than the time to wait; it goes on: send the same request again to wait for it, or over HTTP GET turns/%s", t.name()).about(t.at)
	if cause != errWait && !errors.Is(cause, context.Canceled) {
		f.Code, f.Message = http.StatusServiceUnavailable, fmt.Sprintf("%s; what the turn has done by then is told by GET turns/%s, or by the same request", cause, t.name())
	}
	f.Data.TurnKey = t.name()
	return nil, f
}

// watch hands on the events of a turn from its beginning to its end, and reports
// whether it is over; tell may be nil. It ends with ctx, too.
func (t *turn) watch(ctx context.Context, tell func(event)) bool {
	for told := 0; ; {
		events, more := t.since(told)
		for _, ev := range joined(events) {
			if tell != nil {
				tell(ev)
			}
		}
		told += len(events)
		if t.over() {
			if rest, _ := t.since(told); len(rest) > 0 {
				continue
			}
			return true
		}
		select {
		case <-more:
		case <-t.done:
		case <-ctx.Done():
			return false
		}
	}
}

// wait counts the callers that wait for the turn.
func (t *turn) wait(more int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waits += more
	return t.waits
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
	if c.tell != nil {
		return t.output, nil
	}
	return withTraces(t.output, wire.MustEncode(t.traces())), nil
}

// withTraces puts the events of a turn into its output.
func withTraces(output, traces json.RawMessage) json.RawMessage {
	out := append(json.RawMessage{}, output[:len(output)-1]...)
	return append(append(append(out, `,"traces":`...), traces...), '}')
}
