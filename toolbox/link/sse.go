package link

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/group"
	"github.com/mcp-workbench/workbench/internal/sse"
	"github.com/mcp-workbench/workbench/toolbox/remote"
)

// sseLink speaks the HTTP transport of revision 2024-11-05: one stream brings everything the server says; messages to
// it are posted to the address that the stream's first event names.
type sseLink struct {
	plain
	server *remote.Requester
	body   io.ReadCloser
	events *sse.Reader
	post   string
	r      Receiver
	ctx    context.Context // the link's life
	cancel context.CancelCauseFunc
	tasks  group.Group
	order  order
	posts  posts

	greeted atomic.Bool // the handshake is done
}

// SSE opens the stream of a server and waits for its first event; ctx bounds that, and not the life of the link.
// Messages of more than max bytes are not taken.
func SSE(ctx context.Context, server *remote.Requester, max int) (_ Link, err error) {
	life, cancel := context.WithCancelCause(context.Background())
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	defer stop()
	l := &sseLink{server: server, ctx: life, cancel: cancel}
	defer func() {
		if err != nil {
			cancel(err)
		}
	}()
	req, err := server.Request(life, http.MethodGet, server.URL(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/event-stream")
	resp, err := server.Do(req)
	if err != nil {
		return nil, err
	}
	l.body = resp.Body
	if !bringsEvents(resp) {
		defer resp.Body.Close()
		return nil, l.server.Refusal(resp)
	}
	l.events = sse.NewReader(resp.Body, max)
	for {
		ev, err := l.events.Next()
		if err != nil {
			_ = resp.Body.Close()
			return nil, fmt.Errorf("the stream ended before it named its endpoint: %w", err)
		}
		if ev.Type != "endpoint" {
			continue
		}
		if l.post, err = endpoint(server.URL(), string(ev.Data)); err != nil {
			_ = resp.Body.Close()
			return nil, err
		}
		return l, nil
	}
}

// endpoint resolves the address that messages go to. It must be of the same origin, or credentials would go where the
// configuration did not send them.
func endpoint(base, ref string) (string, error) {
	b, err := url.Parse(base)
	if err != nil {
		return "", err
	}
	u, err := b.Parse(ref)
	if err != nil {
		return "", fmt.Errorf("the endpoint %q is not a url", foreign.NewName(ref))
	}
	if u.Scheme != b.Scheme || u.Host != b.Host {
		return "", fmt.Errorf("the endpoint %q is on another origin than %s://%s", foreign.NewName(ref), b.Scheme, b.Host)
	}
	return u.String(), nil
}

func (l *sseLink) Begin(r Receiver) {
	l.r = r
	l.tasks.Begin(func() {
		defer l.body.Close()
		_, err := new(stream).read(l.events, r, all(r))
		l.cancel(fmt.Errorf("the stream ended: %w", err))
	})
}

func (l *sseLink) Send(msg []byte, id uint64) error {
	return l.send(msg, id, func(err error) { l.r.Lost(id, err) })
}

func (l *sseLink) Tell(msg []byte, lost func(error)) error { return l.send(msg, 0, lost) }

func (l *sseLink) send(msg []byte, id uint64, lost func(error)) error {
	if l.ctx.Err() != nil {
		return context.Cause(l.ctx)
	}
	wait, pass, done, err := l.order.turn(len(msg), id != 0)
	if err != nil {
		return err
	}
	body := bytes.Clone(msg)
	if !l.tasks.Begin(func() {
		defer done()
		wait(l.ctx)
		post := func() error { return l.deliver(body) }
		err := error(nil)
		if id != 0 {
			err = post()
		} else {
			err = patiently(l.ctx, post, pass)
		}
		greeted := l.greeted.Load() // before that, the start itself fails with the reason
		over := l.posts.end(body, id, err, greeted, l.server.HasLogin())
		if refused, ok := errors.AsType[*remote.StatusError](err); ok && refused.Status == http.StatusNotFound && greeted {
			over, err = errSessionEnded, goneError{fmt.Errorf("%w: %v", errSessionEnded, err)}
		}
		if over != nil {
			l.r.Draining()
		}
		if err != nil && (id != 0 || l.ctx.Err() == nil) {
			lost(err)
		}
		if over != nil {
			l.cancel(over)
		}
	}) {
		done()
		return ErrClosed
	}
	return nil
}

func (l *sseLink) deliver(body []byte) error {
	req, err := l.server.Request(l.ctx, http.MethodPost, l.post, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := l.server.Do(req)
	if err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		defer resp.Body.Close()
		return l.server.Refusal(resp)
	}
	remote.Finish(resp.Body)
	return nil
}

func (l *sseLink) Handshaken(string)     { l.greeted.Store(true) }
func (l *sseLink) Done() <-chan struct{} { return l.ctx.Done() }

func (l *sseLink) Cause() error {
	if cause := context.Cause(l.ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return ErrClosed
}

func (l *sseLink) Close(context.Context) error {
	l.tasks.End()
	l.cancel(ErrClosed)
	l.tasks.Wait()
	return nil
}
