package proxy

import (
	"bytes"
	"context"
	"slices"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/proxy/shelf"
	"github.com/mcp-workbench/workbench/toolbox"
)

// desk is where what the client requests is taken to be worked on.
type desk struct {
	ctx        context.Context // ends with the session; what is worked on here goes on after what took it has returned
	requests   *requests
	profile    *profile
	turns      *turns
	recorder   *recorder
	forwarding *forwarding
}

// take registers a request; nil if it is refused, which is then answered.
func (d *desk) take(c *call) *flight { return d.register(c, &flight{by: d.forwarding}) }

// own registers a request that is worked on here, under f.ctx.
func (d *desk) own(c *call) *flight {
	f := &flight{by: d.forwarding}
	f.ctx, f.cancel = context.WithCancel(d.ctx)
	if d.register(c, f) == nil {
		f.cancel()
		return nil
	}
	f.record.here(c)
	return f
}

// serve registers a request that is worked on here, on a goroutine of its own.
func (d *desk) serve(c *call, answer func(f *flight, later *call)) {
	if f := d.own(c); f != nil {
		later := c.own()
		f.serve(func() { answer(f, later) })
	}
}

// register has a request worked on by f.
func (d *desk) register(c *call, f *flight) *flight {
	now := d.profile.known()
	f.work, f.level = f, now.level
	f.cached, f.asks = eras.Cacheable(c.MethodName), eras.MayAsk(c.MethodName)
	f.record.by, f.record.mode = d.recorder, d.recorder.log.Mode()
	if f.record.on() {
		f.record.asked(c, now.name)
	}
	if err := d.requests.take(&f.request, c); err != nil {
		c.out.Finish(errorReply(f.id, err))
		return nil
	}
	if isCall(c.MethodName) {
		f.record.arguments(&f.request, c.Bytes(c.Args))
	}
	return f
}

// ownAndNarrate registers a request that is worked on here and will wait for servers.
func (d *desk) ownAndNarrate(c *call, servers ...*toolbox.Server) *flight {
	f := d.own(c)
	if f != nil && c.Token.Present() {
		f.token = bytes.Clone(c.Bytes(c.Token))
		f.narrate(servers...)
	}
	return f
}

// awaitMarked has the request go on, on a goroutine of its own, when the toolboxes have opened that open by themselves
// and those that waited for them before it have gone on: goOn calls done when it has.
func (d *desk) awaitMarked(f *flight, sh *shelf.Shelf, goOn func(done func())) {
	wait, done := d.turns.take(marked)
	f.serve(func() {
		f.narrate(sh.OpeningServers()...)
		sh.OpenMarked(f.ctx)
		wait()
		goOn(done)
	})
}

// unopened returns the toolbox and the server that a full name is about, if the toolbox is to be opened first or others
// that came before wait for that; else nil, and for a toolbox that opens by itself.
func (d *desk) unopened(sh *shelf.Shelf, name string) (*shelf.Box, *toolbox.Server) {
	b, srv := sh.Named(name)
	if b == nil || slices.Contains(sh.View().Marked(), b.Name) || b.Opened() && !d.turns.waited(of(srv)) {
		return nil, nil
	}
	return b, srv
}

// inTurn has the request go on, on a goroutine of its own, when those have that wait for the server; it reports false if
// the request is refused, which is then answered.
func (d *desk) inTurn(c *call, srv *toolbox.Server, goOn func(f *flight, later *call)) bool {
	f := d.ownAndNarrate(c)
	if f == nil {
		return false
	}
	later := c.own()
	wait, done := d.turns.take(of(srv))
	f.serve(func() {
		defer done()
		wait()
		goOn(f, later)
	})
	return true
}

// refuse answers a call, of what is named by target, with an error.
func (d *desk) refuse(c *call, target string, err error) {
	if f := d.take(c); f != nil {
		f.record.target(target)
		f.fail(err)
	}
}

// forward sends the client's request to where it goes.
func (d *desk) forward(c *call, at destination) {
	if f := d.take(c); f != nil {
		f.forward(c, at)
	} else {
		at.refuse()
	}
}

func (f *flight) forward(c *call, at destination) {
	if at.failed != nil && !f.atEnd(at.ended) { // it was given up while it waited
		at.refuse()
	}
	if at.srv == nil {
		f.reply([]byte("{}"))
		return
	}
	if at.prompt {
		f.call.Prompt = at.key
	}
	f.send(c, at.srv, at.key, at.edits...)
	if at.after != nil {
		at.after()
	}
}
