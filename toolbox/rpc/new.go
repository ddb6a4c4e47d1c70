package rpc

import (
	"context"
	"errors"
	"time"

	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox/link"
)

// New makes a connection over a link, which does not read before Begin.
func New(l link.Link, opts Options) *Conn {
	c := &Conn{opts: opts, writer: writer{l, opts.Buffers, opts.Log}, breakage: newBreakage(), over: make(chan struct{})}
	c.self = c
	c.hello.Store(new(Hello))
	c.Calls = &Table{
		counts:  opts.Counts,
		limits:  opts.Limits,
		excused: c.excused,
		late:    c.expire,
		pending: make(map[uint64]*Call),
		rested:  time.Now(),
	}
	return c
}

// Begin has the link read.
func (c *Conn) Begin() { c.link.Begin(receiver{c}) }

// expire ends the calls whose time is over. It runs on the timer's goroutine.
func (c *Conn) expire() {
	now, limits := time.Now(), &c.opts.Limits().Timeouts
	late, silent := c.Calls.tooLate(now, limits)
	for _, call := range late {
		if !call.finish() {
			continue
		}
		c.opts.Counts.Lost.Add(1)
		c.giveUp(call, nil, wire.Span{})
		began, why := c.Calls.lateness(call, now, limits)
		if late, ok := errors.AsType[*TimeoutError](why); ok && late.Stray == nil {
			late.Stdout = c.noise.since(began)
		}
		call.Handler.Done(nil, c.Loss(why))
	}
	c.Calls.again(now)
	c.opts.Owner.Ended()
	if len(late) > 0 && silent >= silentCalls {
		c.opts.Begin(func() { probe(c, silent) })
	}
}

// After so many calls in a row without a reply a server is asked whether it lives; any answer will do, an error too.
const (
	silentCalls = 3
	pingWait    = 10 * time.Second
)

// probe finds out whether a server that leaves calls unanswered is there at all, and has it started anew if not.
func probe(c *Conn, silent int) {
	ctx, cancel := context.WithTimeout(c.opts.Life, pingWait)
	defer cancel()
	method := "ping"
	if !c.Hello().Era.Has(method) {
		method = "server/discover"
	}
	_, _ = c.Request(ctx, method, nil) // Whatever it says, it spoke.
	if c.Calls.silence() >= silentCalls && ctx.Err() != context.Canceled {
		c.Break(&SilenceError{Calls: silent, Wait: pingWait})
	}
}
