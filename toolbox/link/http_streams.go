package link

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"time"

	"github.com/mcp-workbench/workbench/internal/backoff"
	"github.com/mcp-workbench/workbench/internal/pause"
	"github.com/mcp-workbench/workbench/internal/sse"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox/remote"
)

// maxResumes bounds how often a stream is taken up again that brings nothing.
const maxResumes = 5

// streamWait bounds how long the opening of the GET stream holds up what comes after it: some servers answer the GET
// when they have something to say.
const streamWait = 2 * time.Second

// follow reads the stream of a response until the reply to request id has come. A legacy server may close the stream
// before that: it is then taken up again, after the time the server set, behind the last event (specification
// 2025-11-25, transports, "Resumability and Redelivery").
func (l *httpLink) follow(ctx context.Context, body io.ReadCloser, id uint64) error {
	s := stream{retry: time.Second}
	take := func(m *wire.Message) (done bool, err error) {
		return m.Kind == wire.Result || m.Kind == wire.Failure, l.receive(m, id)
	}
	if id == 0 {
		take = nil // no reply is waited for
	}
	done, err := l.brought(&s, body, take)
	if errors.Is(err, sse.ErrTooLong) {
		return err // it would come again
	}
	for tries := 0; !done && s.last != "" && tries < maxResumes && ctx.Err() == nil && !l.session.era().IsStateless(); tries++ {
		before := s.last
		var again error
		done, again = l.resume(ctx, &s, take)
		if refused, ok := errors.AsType[*remote.StatusError](again); ok { // it keeps no streams
			return fmt.Errorf("the connection was lost before the reply, and its stream cannot be taken up again: HTTP %d", refused.Status)
		}
		err = again
		if s.last != before {
			tries = 0
		}
	}
	switch {
	case done:
		return err
	case errors.Is(err, context.Canceled):
		return nil
	}
	return fmt.Errorf("the connection was lost before the reply: %w", err)
}

// resume takes up a stream where it ended.
func (l *httpLink) resume(ctx context.Context, s *stream, take func(*wire.Message) (bool, error)) (done bool, err error) {
	if pause.For(ctx, s.retry) != nil {
		return false, ctx.Err()
	}
	resp, err := l.get(ctx, s.last)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	if !bringsEvents(resp) {
		return false, l.refused(resp)
	}
	return l.brought(s, resp.Body, take)
}

// brought hands on what a stream brings until take is done with it, and what stands behind that: a server may say there
// too that a list has changed. Of that there is no more than a little. Nothing is waited for if take is nil.
func (l *httpLink) brought(s *stream, body io.ReadCloser, take func(*wire.Message) (bool, error)) (done bool, err error) {
	bounded := &io.LimitedReader{R: body, N: math.MaxInt64}
	events := sse.NewReader(bounded, l.max)
	if take != nil {
		if done, err = s.read(events, l.r, take); !done || err != nil {
			return done, err
		}
	}
	bounded.N = remote.EndBytes
	late := time.AfterFunc(remote.EndTime, func() { _ = body.Close() })
	defer late.Stop()
	_, _ = s.read(events, l.r, all(l.r))
	return true, nil
}

// get asks for a stream of events, behind the event of an id if that is not "".
func (l *httpLink) get(ctx context.Context, last string) (*http.Response, error) {
	req, err := l.session.request(ctx, http.MethodGet, nil)
	if err != nil {
		return nil, err
	}
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	return l.server.Do(req)
}

// open opens the stream on which a legacy server speaks unasked, and returns when the server has it: what
// the server says to what it is sent next would be lost otherwise, a changed list as well as a log line.
func (l *httpLink) open() {
	opened, answered := context.WithCancel(l.ctx)
	if l.tasks.Begin(func() { l.listen(answered) }) {
		_ = pause.For(opened, streamWait)
	}
}

// listen keeps the GET stream open. A server that has none answers 405, or refuses the first in another way that is not
// passing; else the stream is asked for again. listen calls answered when the server has answered for the first time, or
// will not.
func (l *httpLink) listen(answered func()) {
	defer answered()
	s, had := stream{retry: time.Second}, false
	for l.ctx.Err() == nil {
		resp, err := l.get(l.ctx, s.last)
		answered()
		refused, _ := errors.AsType[*remote.StatusError](err)
		switch {
		case err == nil && bringsEvents(resp):
			s.retry, had = time.Second, true
			_, _ = s.read(sse.NewReader(resp.Body, l.max), l.r, all(l.r))
			_ = resp.Body.Close()
		case err == nil:
			refused, _ = errors.AsType[*remote.StatusError](l.refused(resp)) // none if the link ended
			_ = resp.Body.Close()
		}
		wait := s.retry
		if refused != nil {
			if refused.Status == http.StatusMethodNotAllowed || !had && !refused.IsPassing() {
				return
			}
			wait = max(wait, time.Until(refused.Next))
		}
		_ = pause.For(l.ctx, wait)
		s.retry = min(2*s.retry, backoff.Max)
	}
}
