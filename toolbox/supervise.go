package toolbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/backoff"
	"github.com/mcp-workbench/workbench/toolbox/link"
	"github.com/mcp-workbench/workbench/toolbox/remote"
)

// linkClose bounds the end of a link: EOF, SIGTERM and SIGKILL have their own
// times within it.
const linkClose = 6 * time.Second

// run owns the server until ctx ends: start, wait for the end, decide, rest.
func (s *Server) run(ctx context.Context) error {
	if st := s.Status().State; st == Disabled || st == Failed {
		return nil
	}
	var rest backoff.Counter
	var last error // why it is started again
	for {
		s.set(Starting, last, time.Time{}, nil)
		select {
		case <-s.at.poke: // for the start that has just begun
		default:
		}
		began := time.Now()
		c, err := s.start(ctx)
		served := err == nil
		if served {
			ready := time.Now()
			var unstopped error
			err, unstopped = s.serve(ctx, c)
			rest.Served(time.Since(ready))
			if ctx.Err() != nil || s.at.now().retired {
				s.set(Stopped, nil, time.Time{}, nil)
				return unstopped
			}
		} else {
			if late := (*TimeoutError)(nil); errors.As(err, &late) && (late.What == "start" || late.What == "install") {
				s.noteLate()
			}
			err = unsettled(err)
			s.at.noteTried(began)
		}
		on := false
		switch last = err; {
		case ctx.Err() != nil:
		case errors.As(err, new(*IdleError)):
			last = nil
			on = s.sleep(ctx)
		case errors.Is(err, ErrRestarted):
			last, on = nil, true
		default:
			on = s.rest(ctx, &rest, err, served)
		}
		if !on {
			s.set(Stopped, nil, time.Time{}, nil)
			return nil
		}
	}
}

// unsettled words why a start failed: whether a request of the start was carried
// out matters to nobody, and who hears of it knows the server.
func unsettled(err error) error {
	var lost *LostError
	var undone *UndoneError
	switch {
	case errors.As(err, &lost):
		return lost.Cause
	case errors.As(err, &undone):
		return undone.Cause
	}
	return err
}

// serve lets a connection take requests until it ends. It returns why it
// ended, and what would not stop.
func (s *Server) serve(ctx context.Context, c *conn) (cause, unstopped error) {
	c.opened()
	c.levelAgain(ctx, s.at.lastLevel())
	s.set(Ready, nil, time.Time{}, c)
	s.again(c)
	s.peer.Changed(s, Tools)
	var kept sync.WaitGroup // not one of the tasks: a close may have ended those already
	kept.Go(s.remember)
	defer kept.Wait()
	idle := s.wait(ctx, c)
	// Withdrawn before its calls are failed, so that whoever hears of a
	// failure and tries again does not meet the dead connection.
	if idle != nil {
		s.set(Stopped, idle, time.Time{}, nil)
	} else {
		s.drop(c)
	}
	select {
	case <-c.link.Done():
		cause = c.link.Cause()
	default:
		switch {
		case idle != nil:
			cause = idle
		case ctx.Err() != nil:
			cause = context.Cause(ctx)
		case c.brokenBy != nil:
			cause = c.brokenBy
		default:
			cause = errors.New("takes no more messages")
		}
	}
	c.close(c.lost(cause))
	return cause, s.end(c)
}

// wait waits for the end of a connection. The result is not nil if it is
// to be ended because nothing was asked of the server for a time.
func (s *Server) wait(ctx context.Context, c *conn) *IdleError {
	timer := time.NewTimer(s.bounds.Load().idle)
	defer timer.Stop()
	for {
		idle, quiet := s.bounds.Load().idle, timer.C
		if idle <= 0 {
			quiet = nil // idleness ends nothing
		}
		select {
		case <-c.link.Done():
			return nil
		case <-c.broken:
			link.AwaitEnd(c.link)
			return nil
		case <-ctx.Done():
			return nil
		case <-s.rebound:
			c.calls.rest() // which may not have been noted before
			timer.Reset(s.bounds.Load().idle)
		case <-quiet:
			retired, again := false, s.keptFor(idle)
			if again <= 0 {
				retired, again = c.retire(idle)
			}
			if retired {
				return &IdleError{After: idle}
			}
			timer.Reset(again)
		}
	}
}

// keptFor returns for how long the server is not to be stopped at least,
// whether it is used or not.
func (s *Server) keptFor(idle time.Duration) time.Duration {
	if busy, _ := s.reading.busy(); busy {
		return idle / 8
	}
	return s.watches.keptFor(idle)
}

// sleep waits until somebody wants something of a server that was stopped for
// idleness; it reports whether to go on.
func (s *Server) sleep(ctx context.Context) bool {
	select {
	case <-s.at.poke:
		return true
	case <-ctx.Done():
		return false
	}
}

// end closes the connection within its bound.
func (s *Server) end(c *conn) error {
	ctx, cancel := context.WithTimeout(context.Background(), linkClose)
	defer cancel()
	if err := c.link.Close(ctx); err != nil {
		return fmt.Errorf("server %q: %w", s.Name, err)
	}
	return nil
}

// rest waits out the back-off and reports whether to go on. A server that
// served before it ended is started again at once the first time, as its next
// caller is waiting for it; one that never did would only fail again.
func (s *Server) rest(ctx context.Context, b *backoff.Counter, cause error, served bool) bool {
	var refused *remote.StatusError
	errors.As(cause, &refused)
	wait, open := b.Failed(time.Now())
	state, next := Backoff, time.Time{}
	if open {
		state = Open
	}
	switch {
	case refused != nil && refused.Status == http.StatusUnauthorized:
		// Asking again with the same credentials would only be refused again:
		// it is left until somebody logged in, or opens the toolbox anew.
		state, wait = NeedsLogin, math.MaxInt64
	case refused != nil && !refused.Next.IsZero():
		wait = max(wait, backoff.First, time.Until(refused.Next))
	case wait == 0 && served:
		return true
	case wait == 0:
		wait = backoff.First
	}
	if state != NeedsLogin {
		next = time.Now().Add(wait)
	}
	s.set(state, cause, next, nil)
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-s.at.poke:
		return true
	case <-ctx.Done():
		return false
	}
}

// start makes a connection, shakes hands and reads the tools. A server that
// ended on the question which era it is of is made anew and not asked again.
func (s *Server) start(ctx context.Context) (*conn, error) {
	done := s.takeTurn(ctx)
	defer done()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	ctx, end := s.bounded(ctx)
	defer end()
	c, err := s.attempt(ctx)
	if errors.Is(err, errProbeEnded) {
		s.legacy = true
		c, err = s.attempt(ctx)
	}
	if s.mayBeSSE(err) {
		s.sse = true
		if other, sseErr := s.attempt(ctx); sseErr == nil {
			c, err = other, nil
		} else {
			s.sse = false
		}
	}
	if errors.As(err, new(*link.RPCError)) {
		s.legacy = false // it refuses initialize now: it is to be asked anew
	}
	return c, err
}

func (s *Server) attempt(sctx context.Context) (_ *conn, err error) {
	c := newConn(s)
	c.link, err = s.dial(sctx)
	if err != nil {
		return nil, err
	}
	c.link.Begin(c)
	// A link that dies ends what start waits for, with the reason.
	started := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-c.link.Done():
			c.close(c.link.Cause())
		case <-c.broken:
			c.close(cmp.Or(c.brokenBy, ErrClosed))
		case <-started:
		}
	}()
	if err = c.handshake(sctx, s.box.opts.Client, s.legacy); err == nil {
		err = s.first(sctx, c)
	}
	// Some servers that speak only 2026-07-28 answer initialize all the same,
	// and refuse what comes after it.
	if !c.hello.Modern && mayBeOfEra(err) && c.discover(sctx, s.box.opts.Client) == nil {
		err = s.first(sctx, c)
	}
	close(started)
	<-watched
	if err == nil {
		return c, nil
	}
	// A write can fail before the death of the process is seen; how it died
	// is the better reason. Ends that we asked for have none.
	if errors.As(err, new(unsentError)) {
		link.AwaitEnd(c.link)
	}
	c.close(c.lost(err))
	cerr := s.end(c)
	var exit *link.ExitError
	var late *TimeoutError
	var undone *UndoneError
	switch p := c.link.Process(); {
	case errors.As(c.link.Cause(), &exit) && !errors.Is(err, errProbeEnded):
		err = exit
	case p != nil && errors.As(err, &late) && (late.What == "start" || late.What == "install"):
		_, noisy := c.noise.heard()
		err = &TimeoutError{What: late.What, After: late.After, Stderr: p.LastWords(), Stdout: noisy}
	case errors.As(err, &undone):
		err = undone.Cause // whoever tells it says of which server
	}
	return nil, errors.Join(err, cerr)
}
