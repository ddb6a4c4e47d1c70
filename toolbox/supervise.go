package toolbox

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/backoff"
	"github.com/mcp-workbench/workbench/internal/child"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/toolbox/link"
	"github.com/mcp-workbench/workbench/toolbox/remote"
	"github.com/mcp-workbench/workbench/toolbox/rpc"
)

// linkClose bounds the end of a link: EOF, SIGTERM and SIGKILL have their own times within it.
const linkClose = 6 * time.Second

// owner is who starts a server, waits for its end and decides what then, on one goroutine. It stands above the server,
// which does not know it.
type owner struct {
	server *Server
	rests  backoff.Counter
	sse    bool // the server was found to speak the transport of revision 2024-11-05
	legacy bool // it once ended on server/discover or left it unanswered

	left *child.SurvivorError // what would not stop of its last process; nil if nothing is left
}

// own owns a server until the end of its life. The error says what would not stop.
func own(s *Server) error {
	o := &owner{server: s, legacy: s.memory.mute}
	err := o.run(s.life)
	s.remote.Close()
	return err
}

// set says where the server stands. It is told to the event listener, and the queue is looked at.
func (o *owner) set(state State, cause error, next time.Time, c *rpc.Conn) {
	s := o.server
	if cause != nil {
		cause = foreign.NewError(s.hidden.Load().Error(cause))
	}
	if c != nil {
		s.hello.Store(c.Hello())
	}
	event := s.at.become(state, cause, next, c)
	if state == Starting && event.Status.Starts > 1 {
		s.counts.Restarts.Add(1)
	}
	o.tell(event)
	s.pump()
}

// tell has the event listener hear of a change.
func (o *owner) tell(event Event) {
	s := o.server
	if listen := s.box.opts.Event; listen != nil {
		event.Toolbox, event.Server, event.Status.Tools = s.Toolbox, s.Name, len(s.lists.Items(Tools))
		event.Log = s.log
		listen(event)
	}
}

// run goes on until ctx ends: start, wait for the end, decide, rest.
func (o *owner) run(ctx context.Context) error {
	s := o.server
	if st := s.at.now().State; st == Disabled || st == Failed {
		return nil
	}
	var last error // why it is started again
	for {
		if !o.freed(ctx) {
			o.set(Stopped, nil, time.Time{}, nil)
			return nil
		}
		o.set(Starting, last, time.Time{}, nil)
		select {
		case <-s.at.poke: // for the start that has just begun
		default:
		}
		began := time.Now()
		c, err := o.start(ctx)
		served := err == nil
		if served {
			ready := time.Now()
			var unstopped error
			err, unstopped = o.serve(ctx, c)
			o.rests.Served(time.Since(ready))
			if ctx.Err() != nil || s.at.now().retired {
				o.set(Stopped, nil, time.Time{}, nil)
				return unstopped
			}
		} else {
			if late, ok := errors.AsType[*rpc.TimeoutError](err); ok && late.OfStart() {
				s.memory.noteLate()
			}
			s.at.noteTried(began)
		}
		on := false
		last = err
		switch idle, ok := errors.AsType[*IdleError](err); {
		case ctx.Err() != nil:
		case ok:
			last = nil
			on = o.sleep(ctx, idle.After)
		case errors.Is(err, ErrRestarted):
			last, on = nil, true
		default:
			on = o.rest(ctx, err, served)
		}
		if !on {
			o.set(Stopped, nil, time.Time{}, nil)
			return nil
		}
	}
}

// unsettled words why a start failed: whether a request of the start was carried out matters to nobody, and who hears
// of it knows the server.
func unsettled(err error) error {
	if lost, ok := errors.AsType[*rpc.LostError](err); ok {
		return lost.Cause
	}
	if undone, ok := errors.AsType[*rpc.UndoneError](err); ok {
		return undone.Cause
	}
	return err
}

// serve lets a connection take requests until it ends. It returns why it ended, and what would not stop.
func (o *owner) serve(ctx context.Context, c *connection) (cause, unstopped error) {
	s := o.server
	c.HoldUp(s.box.opts.Unread)
	levelAgain(ctx, c.Conn, s.at.now().level)
	if !listens(c.Conn) {
		s.again(c.Conn) // what is wanted from the next step on is said to the server by the clients
	}
	o.set(Ready, nil, time.Time{}, c.Conn)
	s.peer.Changed(s, Tools)
	var kept sync.WaitGroup // not one of the tasks: a close may have ended those already
	kept.Go(s.memory.remember)
	defer func() {
		kept.Wait()
		s.memory.settle()
	}()
	idle := o.wait(ctx, c)
	// Withdrawn before its calls are failed, so that whoever hears of a failure and tries again does not meet the dead
	// connection.
	if idle != nil {
		o.set(Stopped, idle, time.Time{}, nil)
	} else {
		s.drop(c.Conn)
	}
	select {
	case <-c.Link().Done():
		cause = c.Cause()
	default:
		switch {
		case idle != nil:
			cause = idle
		case ctx.Err() != nil:
			cause = context.Cause(ctx)
		default:
			cause = context.Cause(c.Broken())
		}
	}
	c.close(c.Loss(cause))
	return cause, o.end(c)
}

// wait waits for the end of a connection. The result is not nil if it is to be ended because nothing was asked of the
// server for a time.
func (o *owner) wait(ctx context.Context, c *connection) *IdleError {
	s := o.server
	timer := time.NewTimer(s.bounds.Load().Idle)
	defer timer.Stop()
	for {
		idle, quiet := s.bounds.Load().Idle, timer.C
		if idle <= 0 {
			quiet = nil // idleness ends nothing
		}
		select {
		case <-c.Link().Done():
			return nil
		case <-c.Broken().Done():
			link.AwaitEnd(c.Link())
			return nil
		case <-ctx.Done():
			return nil
		case <-s.rebound:
			c.Calls.Rest() // which may not have been noted before
			timer.Reset(s.bounds.Load().Idle)
		case <-quiet:
			drains, again := false, o.keptFor(idle)
			if again <= 0 {
				drains, again = c.drainIdle(idle)
			}
			if drains {
				return &IdleError{After: idle}
			}
			timer.Reset(again)
		}
	}
}

// keptFor returns for how long the server is not to be stopped at least, whether it is used or not.
func (o *owner) keptFor(idle time.Duration) time.Duration {
	if busy, _ := o.server.reading.busy(); busy {
		return idle / 8
	}
	return o.server.watches.keptFor(idle)
}

// sleep waits until somebody wants something of a server that was stopped for idleness; it reports whether to go on.
// What came to be wanted as it was stopped is wanted too.
func (o *owner) sleep(ctx context.Context, idle time.Duration) bool {
	if o.server.watches.keptFor(idle) > 0 {
		return true
	}
	select {
	case <-o.server.at.poke:
		return true
	case <-ctx.Done():
		return false
	}
}

// end closes the connection within its bound.
func (o *owner) end(c *connection) error {
	ctx, cancel := context.WithTimeout(context.Background(), linkClose)
	defer cancel()
	if err := c.Link().Close(ctx); err != nil {
		errors.As(err, &o.left)
		return fmt.Errorf("server %q: %w", o.server.Name, err)
	}
	return nil
}

// leftLook is how often it is looked whether what would not stop is gone.
const leftLook = time.Second

// freed waits until nothing is left of the last process, and reports whether to go on. Another process would only wait
// for what that waits for, such as a disk that does not answer, and one more with each start.
func (o *owner) freed(ctx context.Context) bool {
	if o.left == nil {
		return true
	}
	look := time.NewTicker(leftLook)
	defer look.Stop()
	for tell := true; !o.left.Gone(); {
		if tell {
			o.set(Backoff, fmt.Errorf("%w, which waits in the system, such as for a disk that does not answer; "+
				"the server is started again when that has ended", o.left), time.Time{}, nil)
		}
		tell = false
		select {
		case <-look.C:
		case <-o.server.at.poke:
			tell = true
		case <-ctx.Done():
			return false
		}
	}
	o.left = nil
	return true
}

// rest waits out the back-off and reports whether to go on. A server that served before it ended is started again at
// once the first time, as its next caller is waiting for it; one that never did would only fail again.
func (o *owner) rest(ctx context.Context, cause error, served bool) bool {
	refused, _ := errors.AsType[*remote.StatusError](cause)
	wait, open := o.rests.Failed(time.Now())
	state, next := Backoff, time.Time{}
	if open {
		state = Open
	}
	switch {
	case refused != nil && refused.Status == http.StatusUnauthorized:
		// Asking again with the same credentials would only be refused again: it is left until somebody logged in, or
		// opens the toolbox anew.
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
	o.set(state, cause, next, nil)
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-o.server.at.poke:
		return true
	case <-ctx.Done():
		return false
	}
}

// start makes a connection, shakes hands and reads the tools. A server that ended on the question which era it is of is
// made anew and not asked again.
func (o *owner) start(ctx context.Context) (*connection, error) {
	s := o.server
	done := takeTurn(ctx, s.box.opts.Turn, &s.cfg, s.log)
	defer done()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	ctx, end := o.bounded(ctx)
	defer end()
	c, err := o.attempt(ctx)
	if errors.Is(err, rpc.ErrProbeEnded) {
		o.legacy = true
		c, err = o.attempt(ctx)
	}
	if s.cfg.AnyHTTP && !o.sse && mayBeSSE(err) {
		o.sse = true
		if other, sseErr := o.attempt(ctx); sseErr == nil {
			c, err = other, nil
		} else {
			o.sse = false
		}
	}
	if errors.As(err, new(*link.RPCError)) {
		o.legacy = false // it refuses initialize now: it is to be asked anew
	}
	return c, err
}

func (o *owner) attempt(sctx context.Context) (_ *connection, err error) {
	s := o.server
	l, err := o.dial(sctx)
	if err != nil {
		return nil, err
	}
	c := connect(s, l)
	// A link that dies ends what start waits for, with the reason.
	started := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-c.Link().Done():
			c.close(c.Cause())
		case <-c.Broken().Done():
			c.close(context.Cause(c.Broken()))
		case <-started:
		}
	}()
	if err = rpc.Handshake(sctx, c.Conn, o.legacy); err == nil {
		err = o.introduce(sctx, c)
	}
	// Some servers that speak only 2026-07-28 answer initialize all the same, and refuse what comes after it.
	if c.Hello().Era.HasHandshake() && rpc.MayBeOfEra(err) && rpc.Discover(sctx, c.Conn) == nil {
		err = o.introduce(sctx, c)
	}
	close(started)
	<-watched
	if err == nil {
		return c, nil
	}
	// A write can fail before the death of the process is seen; how it died is the better reason. Ends that we asked
	// for have none.
	if errors.As(err, new(rpc.UnsentError)) {
		link.AwaitEnd(c.Link())
	}
	c.close(c.Loss(err))
	cerr := o.end(c)
	var exit *link.ExitError
	var late *rpc.TimeoutError
	switch p := c.Link().Process(); {
	case errors.As(c.Cause(), &exit) && !errors.Is(err, rpc.ErrProbeEnded):
		err = exit
	case p != nil && errors.As(err, &late) && late.OfStart():
		_, noisy := c.Heard()
		err = &rpc.TimeoutError{What: late.What, After: late.After, Said: link.Said{Stderr: p.LastWords(), Stdout: noisy}}
	default:
		err = unsettled(err)
	}
	return nil, errors.Join(err, cerr)
}

// introduce reads the first lists of a server. One that tells of changes only where it was asked to is asked before that:
// what changes after its lists were read is not to be missed.
func (o *owner) introduce(ctx context.Context, c *connection) error {
	if listens(c.Conn) {
		o.server.again(c.Conn)
	}
	return o.server.reading.first(ctx, c.Conn)
}
