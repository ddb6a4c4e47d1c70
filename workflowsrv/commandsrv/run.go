package commandsrv

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/mcpserve"
	"github.com/mcp-workbench/workbench/internal/pause"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// A runner carries turns from their beginning to the end that is kept. They outlive the calls that began them.
type runner struct {
	*live
	worker
	agents agents
	latest latest
	life   context.Context
	end    context.CancelCauseFunc
	owed   sync.WaitGroup // turns under way
}

// Close ends the turns under way and waits for them. It may be called twice. The store and whatever the engine calls
// must be closed after.
func (r *runner) Close() error {
	r.latest.close()
	r.end(errClosed)
	r.owed.Wait()
	return nil
}

// begin begins a turn, or joins the one that the same request has begun. The caller is to await it.
func (r *runner) begin(ctx context.Context, c *caller, at session, asked request) (*turn, *Fault) {
	return r.latest.join(ctx, at, asked, func(digest string) *turn {
		t := &turn{key: store.NewID(), digest: digest, at: at, request: asked, ask: c.ask, agent: r.agents.of(c), served: r.now.Load(),
			started: make(chan struct{}), done: make(chan struct{}), more: make(chan struct{})}
		t.ctx, t.stop = context.WithCancelCause(r.life)
		r.owed.Go(func() { r.run(t) })
		return t
	})
}

// carryOut begins a turn, or joins it, and waits for its result.
func (r *runner) carryOut(ctx context.Context, c *caller, at session, asked request, wait time.Duration) (json.RawMessage, *Fault) {
	ctx, cancel := context.WithTimeoutCause(ctx, wait, errWait)
	defer cancel()
	c.ask, c.sample = c.ask.within(ctx), c.sample.within(ctx)
	t, f := r.begin(ctx, c, at, asked)
	if f != nil {
		return nil, f
	}
	return r.await(ctx, c, t)
}

var errWait = errors.New("the time to wait is over")

// await waits for the result of a turn, handing on its events.
func (r *runner) await(ctx context.Context, c *caller, t *turn) (json.RawMessage, *Fault) {
	over := t.watch(ctx, c.tell)
	cause := context.Cause(ctx)
	r.latest.leave(t, !over && errors.Is(cause, mcpserve.ErrCancelled))
	if over {
		return r.deliver(ctx, c, t)
	}
	if cause == errWait {
		<-t.started // so that GET turns/KEY finds it
	}
	f := faultf(http.StatusGatewayTimeout, "the turn takes longer than the time to wait, and goes on: send the same request again to wait for it, or over HTTP GET turns/%s", t.name()).about(t.at)
	if cause != errWait && !errors.Is(cause, context.Canceled) {
		f.Code, f.Message = http.StatusServiceUnavailable, fmt.Sprintf("%s; GET turns/%s, or the same request, returns what the turn has done", cause, t.name())
	}
	f.Data.TurnKey, f.logged = t.name(), true
	return nil, f
}

// deliver gives the result of a turn that is over.
func (r *runner) deliver(ctx context.Context, c *caller, t *turn) (json.RawMessage, *Fault) {
	if ctx.Err() == nil {
		t.mu.Lock()
		t.heard = true
		t.mu.Unlock()
		r.latest.forget(t)
	}
	if t.fault != nil {
		return nil, t.fault
	}
	if c.tell != nil {
		return t.output, nil
	}
	return withTraces(t.output, wire.MustEncode(t.traces())), nil
}

// run is a turn from its start to its end.
func (r *runner) run(t *turn) {
	started := sync.OnceFunc(func() { close(t.started) })
	defer func() {
		t.ended = time.Now()
		if t.fault != nil {
			r.blame(t)
		}
		started()
		close(t.done)
	}()
	flight, err := r.store.Start(r.life, t.at.owner, t.at.Conversation, store.Request{Key: t.name(), Digest: t.digest, Kind: t.request.kind, Message: t.request.text})
	var busy *store.BusyError
	if errors.As(err, &busy) && busy.Digest == t.digest {
		t.mu.Lock()
		t.key = busy.Key
		t.mu.Unlock()
		started()
		t.output, t.fault = r.follow(r.life, t)
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
			r.release(t, flight)
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
	end, t.fault = r.attempt(t.ctx, t)
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
	if err := r.finish(flight, end); err != nil {
		t.output, t.fault = nil, faultOf(fmt.Errorf("the turn is over, but it could not be stored: %w", err))
		t.fault.Data.TurnKey = t.name()
		return
	}
	kept = true
}

// blame completes the fault of a turn, and logs it where it is not the caller'r.
func (r *runner) blame(t *turn) {
	t.fault.about(t.at)
	if t.fault.Code < http.StatusInternalServerError {
		return
	}
	t.fault.logged = true
	concerning(r.log.Error(), t.request.kind, t.at, t.name()).AnErr(logkey.Err, t.fault).AnErr(logkey.Detail, t.fault.cause).Msg("a turn failed")
}

// attempt is work of which a panic costs this turn alone.
func (r *runner) attempt(ctx context.Context, t *turn) (end store.Turn, f *Fault) {
	defer func() {
		if p := recover(); p != nil {
			concerning(r.log.Error(), t.request.kind, t.at, t.name()).Interface(logkey.Panic, p).Bytes(logkey.Stack, debug.Stack()).Msg("a turn failed within")
			end, f = store.Turn{}, faultf(http.StatusInternalServerError, "this is a fault of the server; its log says more")
		}
	}()
	end, f = r.work(ctx, t)
	switch {
	case f == nil || f.Code < http.StatusInternalServerError || ctx.Err() == nil:
		return end, f
	case t.stopped():
		// A client that goes away stops its turn and often ends the server with it: that is no reason to lose what was done.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.life), finishTime)
		defer cancel()
		return r.halted(ctx, t)
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
func (r *runner) finish(flight *store.Flight, end store.Turn) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.life), finishTime)
	defer cancel()
	return insist(ctx, r.life.Done(), func() error {
		_, err := flight.Finish(ctx, end)
		return err
	})
}

// insist keeps something, again and again while the store may come back. Where the time runs out in the middle of a try,
// what came of the last one is the reason.
func insist(ctx context.Context, over <-chan struct{}, keep func() error) error {
	var last error
	for {
		err := keep()
		switch away := errors.As(err, new(*store.WriteError)) || errors.As(err, new(*store.UnreachableError)); {
		case !away && ctx.Err() != nil && errors.Is(err, ctx.Err()):
			return cmp.Or(last, error(&store.UnreachableError{Cause: err}))
		case !away:
			return err
		}
		last = err
		select {
		case <-time.After(pollEvery):
		case <-ctx.Done():
			return err
		case <-over:
			return err
		}
	}
}

// release gives a conversation back, whatever becomes of the turn.
func (r *runner) release(t *turn, flight *store.Flight) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.life), finishTime)
	defer cancel()
	if err := flight.Release(ctx); err != nil {
		concerning(r.log.Warn(), t.request.kind, t.at, t.name()).AnErr(logkey.Err, err).Msg("a conversation could not be given back")
	}
}

// follow waits for a turn that the same request has begun in another process.
func (r *runner) follow(ctx context.Context, t *turn) (json.RawMessage, *Fault) {
	for {
		found, err := r.store.Result(ctx, t.at.owner, t.name())
		switch {
		case err != nil:
			return nil, faultOf(err)
		case found.Progress == store.Lost:
			return nil, faultf(http.StatusInternalServerError, "the process that worked on the turn ended first; what the turn has done is unknown")
		case found.Progress == store.Done:
			for _, raw := range found.Turn.Traces {
				var ev command.TraceEvent
				if json.Unmarshal(raw, &ev) == nil {
					t.note(ev)
				}
			}
			return endOf(found.Turn)
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
