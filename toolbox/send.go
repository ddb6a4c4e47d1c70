package toolbox

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/workbench/toolbox/link"
	"github.com/mcp-workbench/workbench/toolbox/rpc"
)

// sender gives the connection of a server the calls of clients, in their order, as soon as it can take them.
type sender struct {
	identity
	at     *standing
	bounds *atomic.Pointer[bounds]
	counts *rpc.Counts
	// admitted reports whether somebody has logged in to a server that waited for it.
	admitted func() bool
	// leftOut says why a tool or prompt that the server has is not offered, "" for any other.
	leftOut func(k Kind, key string) string

	queue *rpc.Queue
	pumps atomic.Int32           // who pumps, and who came meanwhile
	holds atomic.Pointer[Call]   // the log level that is waited for, if any
	heir  atomic.Pointer[sender] // of the server that takes the calls when this one is retired
}

func newSender(of identity, at *standing, b *atomic.Pointer[bounds], counts *rpc.Counts,
	admitted func() bool, leftOut func(Kind, string) string) *sender {
	s := &sender{identity: of, at: at, bounds: b, counts: counts, admitted: admitted, leftOut: leftOut}
	s.queue = rpc.NewQueue(func() time.Duration { return b.Load().CallIdle },
		func(call *Call, limit time.Duration) { s.refuse(call, &rpc.TimeoutError{What: "queue", After: limit}) }, &counts.Queued)
	return s
}

// Send forwards a request. It returns at once; the call's handler hears the rest. A call waits its turn if the server
// has as many as it may have, or is starting; it fails if too many wait, or if the server rests after a failure and not
// just for a moment: then it says when the server will be tried.
func (s *sender) Send(call *Call) {
	call.OfClient = true
	c := s.at.live()
	// While somebody pumps, a call can be out of the queue and not sent yet: it is not to be overtaken.
	if c != nil && s.counts.Queued.Load() == 0 && s.pumps.Load() == 0 && s.holds.Load() == nil && s.handOver(c, call) {
		return
	}
	call.Late = true
	if !s.queue.Add(call) {
		s.refuse(call, &OverloadError{InFlight: int(s.counts.InFlight.Load()), Queued: int(s.counts.Queued.Load())})
		return
	}
	s.pump()
}

// handOver gives a call to a connection. It reports false if the connection has no room, or turned out to be dead
// before it took the call, which is then still to be made. A call that has waited is refused if what it asks for is held
// back or left out by now: a server that starts again may have other tools and prompts than before.
func (s *sender) handOver(c *rpc.Conn, call *Call) bool {
	if call.Late {
		if err := s.noLonger(call); err != nil {
			s.refuse(call, err)
			return true
		}
	}
	var err error
	switch {
	case call.Notice:
		err = c.Notify(scanOwn(call.Raw))
	case call.Levels && !hasLevels(c):
		call.Fail(nil)
	case call.Levels:
		s.hold(call)
		if err = c.Send(call); err != nil {
			s.release(call)
		}
	default:
		err = c.Send(call)
	}
	switch {
	case err == nil:
	case errors.Is(err, rpc.ErrNoRoom), errors.Is(err, rpc.ErrDraining):
		return false
	case errors.Is(err, link.ErrBusy):
		s.refuse(call, err)
	default:
		s.drop(c)
		return false
	}
	return true
}

// noLonger says why what a call asks for is not offered, nil if it is.
func (s *sender) noLonger(call *Call) error {
	k, key := Tools, call.Tool
	if call.Prompt != "" {
		k, key = Prompts, call.Prompt
	}
	if key == "" {
		return nil
	}
	if why := s.leftOut(k, key); why != "" {
		return notOffered(k, key, why)
	}
	return nil
}

// hasRoom reports whether the server may have one more call.
func (s *sender) hasRoom() bool { return s.counts.HasRoom(&s.bounds.Load().Limits) }

// refuse ends a call that was not sent to a server that is there.
func (s *sender) refuse(call *Call, cause error) {
	s.counts.Refused.Add(1)
	call.Fail(s.refusal(cause))
}

// pump does with the queue what the state of the server allows. It is called after everything that may change that: a
// call was queued, a call ended, the state is another. One goroutine at a time does it, so that the calls go in their
// order; who comes meanwhile has it look again.
func (s *sender) pump() {
	if s.counts.Queued.Load() == 0 || s.pumps.Add(1) > 1 {
		return
	}
	for seen := int32(1); ; seen = s.pumps.Load() {
		s.pumpOnce()
		if s.pumps.CompareAndSwap(seen, 0) {
			return
		}
	}
}

// pumpOnce sends the calls of the queue, leaves them, or fails them.
func (s *sender) pumpOnce() {
	for s.counts.Queued.Load() > 0 {
		at := s.at.now()
		switch {
		case at.retired:
			for _, call := range s.queue.TakeOlder(time.Now()) {
				if heir := s.heir.Load(); heir != nil && !call.Levels { // it has the level already
					heir.Send(call)
				} else {
					call.Fail(s.gone())
				}
			}
		case at.conn == nil && s.wakes(&at.Status):
			s.at.retry()
			return
		case at.conn == nil && !at.passing():
			at.tried = time.Now() // nothing is waited for
			fallthrough
		case at.conn == nil:
			for _, call := range s.queue.TakeOlder(at.tried) {
				call.Fail(s.unavailable(at.Status))
			}
			if at.passing() {
				return
			}
		case s.holds.Load() != nil || !s.hasRoom():
			return
		default:
			if call := s.queue.Take(); call != nil && !call.HasEnded() && !s.handOver(at.conn, call) {
				s.queue.PutBack(call)
			}
		}
	}
}

var errMute = errors.New("takes no more messages")

// drop withdraws a connection that takes no more messages; its owner ends it.
func (s *sender) drop(c *rpc.Conn) {
	s.at.withdraw(c)
	c.Break(errMute)
}

// Request makes a request of workbench's own and waits for the result, which the caller may keep. It waits for no turn.
// An error reply is an [*link.RPCError].
func (s *sender) Request(ctx context.Context, method string, params []byte) ([]byte, error) {
	for {
		at, c, err := s.await(ctx)
		if err != nil {
			return nil, err
		}
		result, err := c.Request(ctx, method, params)
		if !errors.As(err, new(rpc.UnsentError)) || errors.Is(err, link.ErrBusy) {
			return result, err
		}
		if !errors.Is(err, rpc.ErrDraining) {
			at.drop(c) // it was dead already: the next one is to have the request
		}
	}
}

// await returns the live connection, waiting while the server starts, and whose it is: that of the server, or of the
// one that is in its place by now.
func (s *sender) await(ctx context.Context) (*sender, *rpc.Conn, error) {
	for {
		at := s.at.now()
		switch heir := s.heir.Load(); {
		case at.conn != nil:
			return s, at.conn, nil
		case at.retired && heir != nil:
			s = heir
			continue
		case at.retired:
			return nil, nil, s.gone()
		case s.wakes(&at.Status):
			s.at.retry()
			continue
		case !at.passing():
			return nil, nil, s.unavailable(at.Status)
		}
		select {
		case <-at.changed:
		case <-ctx.Done():
			return nil, nil, fmt.Errorf("waiting for server %q of toolbox %q, which is %s: %w", s.server, s.toolbox, at.State, context.Cause(ctx))
		}
	}
}

// wakes reports whether a server is to be started because it is wanted: it was idle, or it waited for a login and has
// got one.
func (s *sender) wakes(st *Status) bool { return st.asleep() || s.admits(st) }

// admits reports whether somebody has logged in to a server that waited for it.
func (s *sender) admits(st *Status) bool { return st.State == NeedsLogin && s.admitted() }
