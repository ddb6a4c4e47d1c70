package toolbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/internal/backoff"
	"github.com/mcp-workbench/workbench/internal/sse"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// maxResumes bounds how often a stream is taken up again that brings nothing.
const maxResumes = 5

// position is how far a stream was read.
type position struct {
	last  string        // the id of the last event; "" if events have none
	retry time.Duration // how long the server wants us to wait before we come back
}

// follow reads the stream of a response until the reply to request id has come.
// A legacy server may close the stream before that: it is then taken up again,
// after the time the server set, behind the last event (specification
// 2025-11-25, transports, "Resumability and Redelivery").
func (l *httpLink) follow(ctx context.Context, body io.Reader, id uint64) error {
	at := position{retry: time.Second}
	done, err := l.stream(body, id, &at)
	if errors.Is(err, sse.ErrTooLong) {
		return err // it would come again
	}
	for tries := 0; !done && at.last != "" && id != 0 && tries < maxResumes && ctx.Err() == nil && l.isLegacy(); tries++ {
		before := at.last
		if done, err = l.resume(ctx, id, &at); errors.As(err, new(*StatusError)) {
			break // it keeps no streams
		}
		if at.last != before {
			tries = 0
		}
	}
	switch {
	case done:
		return err
	case id == 0 || errors.Is(err, context.Canceled):
		return nil
	}
	return fmt.Errorf("the connection was lost before the reply: %w", err)
}

func (l *httpLink) isLegacy() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !mcp.IsModernProtocol(l.version)
}

// resume takes up a stream at a position.
func (l *httpLink) resume(ctx context.Context, id uint64, at *position) (done bool, err error) {
	pause := time.NewTimer(at.retry)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	req, err := l.request(ctx, http.MethodGet, nil)
	if err != nil {
		return false, err
	}
	req.Header.Set("Last-Event-ID", at.last)
	resp, err := l.server.remote.do(req)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); resp.StatusCode != http.StatusOK || kind != "text/event-stream" {
		return false, l.refused(resp)
	}
	return l.stream(resp.Body, id, at)
}

// stream reads a stream of messages until the reply to request id has come, and
// notes how far it got. The error says how the stream ended without the reply,
// or what came in its place.
func (l *httpLink) stream(body io.Reader, id uint64, at *position) (done bool, err error) {
	events := sse.NewReader(body, l.server.box.opts.MaxMessage)
	var m wire.Message
	for {
		ev, err := events.Next()
		if err != nil {
			return false, err
		}
		if ev.HasID {
			at.last = ev.ID
		}
		if ev.Retry > 0 {
			at.retry = min(ev.Retry, backoff.Max)
		}
		if !ev.IsMessage() {
			continue
		}
		if err := scanLoose(ev.Data, &m); err != nil {
			l.r.Noise(ev.Data, err)
			continue
		}
		if err := l.receive(&m, id); err != nil {
			return true, err
		}
		if id != 0 && (m.Kind == wire.Result || m.Kind == wire.Failure) {
			return true, nil
		}
	}
}
