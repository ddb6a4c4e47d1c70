package httpfront

import (
	"bytes"
	"context"
	"errors"
	"net/http"

	"github.com/mcp-workbench/workbench/internal/incoming"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy"
)

// Admit says who a token stands for. A *principal.DeniedError says that it stands for nobody.
func (f *Front) Admit(ctx context.Context, token string) (principal.Principal, error) {
	r := &http.Request{Header: http.Header{}}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	c, no := f.door.admit(r.WithContext(ctx))
	switch {
	case no == nil:
		return c.Principal, nil
	case no.status == http.StatusUnauthorized:
		return principal.Principal{}, &principal.DeniedError{Reason: no.error.Message}
	}
	return principal.Principal{}, errors.New(no.error.Message)
}

// Ask makes a request of an era without handshake for somebody who was let in, beside the requests that come over the
// wire, and waits for its reply. What comes before the reply is given to message. The request is cancelled when ctx
// ends; it comes from where the request does that ctx is of.
func (f *Front) Ask(ctx context.Context, who principal.Principal, raw []byte, message func([]byte)) ([]byte, error) {
	m := new(incoming.Request)
	if err := wire.Scan(raw, &m.Message); err != nil {
		return nil, err
	}
	if err := m.Read(); err != nil {
		return nil, err
	}
	if isCall(m) {
		if no := f.pace.take(who.Name); no != nil {
			return nil, &no.error
		}
	}
	v := visit{caller: caller{Principal: who}, front: f.mcp.root.For(&who, "")}
	if v.front == nil {
		return nil, &refuseToolbox(f.mcp.root.Direct()).error
	}
	c, no := f.mcp.clients.share(&v)
	if no != nil {
		return nil, &no.error
	}
	defer f.mcp.clients.release(c)
	c.Prepare(ctx, m.MethodName)
	out := &insider{notes: make(chan []byte, notesKept), done: make(chan []byte, 1)}
	if v := visitorIn(ctx); v != nil {
		out.address = v.address
	}
	scope := f.mcp.scopes.Add(1)
	c.Handle(m, out, scope)
	for {
		select {
		case note := <-out.notes:
			message(note)
		case reply := <-out.done:
			if reply == nil {
				return nil, proxy.ErrClosed
			}
			return reply, nil
		case <-ctx.Done():
			c.Abandon(scope, m.Bytes(m.ID))
			return nil, context.Cause(ctx)
		}
	}
}

// notesKept is how many messages wait for one who asks from within; more are left out.
const notesKept = 64

// insider is the outlet of a request that was made within this process.
type insider struct {
	address     string // of who asks, if that is over HTTP
	notes, done chan []byte
}

func (i *insider) Message(msg []byte) {
	select {
	case i.notes <- bytes.Clone(msg):
	default: // it is progress, of which the next tells more
	}
}

func (i *insider) Behind() bool { return len(i.notes) == cap(i.notes) }

// From implements proxy.Outlet.
func (i *insider) From() proxy.Origin { return proxy.Origin{Address: i.address} }

func (i *insider) Finish(reply []byte) {
	select {
	case i.done <- bytes.Clone(reply):
	default: // it has one
	}
}
