package toolbox

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/backoff"
	"github.com/mcp-workbench/workbench/internal/sse"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// streamWait bounds how long the opening of the GET stream holds up what comes
// after it: some servers answer the GET when they have something to say.
const streamWait = 2 * time.Second

// open opens the stream on which a legacy server with sessions speaks unasked,
// and returns when the server has it: what the server says to what it is sent
// next would be lost otherwise, a changed list as well as a log line.
func (l *httpLink) open() {
	if !l.hasSession() {
		return
	}
	opened := make(chan struct{})
	if !l.tasks.Begin(func() { l.listen(sync.OnceFunc(func() { close(opened) })) }) {
		return
	}
	wait := time.NewTimer(streamWait)
	defer wait.Stop()
	select {
	case <-opened:
	case <-wait.C:
	case <-l.ctx.Done():
	}
}

// listen keeps the GET stream open. A server that has none answers 405. It calls
// answered when the server has answered for the first time, or will not.
func (l *httpLink) listen(answered func()) {
	defer answered()
	last := ""
	wait := time.Second
	for l.ctx.Err() == nil {
		req, err := l.request(l.ctx, http.MethodGet, nil)
		if err != nil {
			return
		}
		if last != "" {
			req.Header.Set("Last-Event-ID", last)
		}
		resp, err := l.server.remote.do(req)
		answered()
		if errors.As(err, new(*StatusError)) {
			return
		}
		if err == nil {
			kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
			if resp.StatusCode != http.StatusOK || kind != "text/event-stream" {
				_ = resp.Body.Close()
				return
			}
			last, wait = l.hear(resp.Body, last)
			_ = resp.Body.Close()
		}
		pause := time.NewTimer(wait)
		select {
		case <-pause.C:
		case <-l.ctx.Done():
			pause.Stop()
		}
		wait = min(2*wait, backoff.Max)
	}
}

// hear reads one life of the GET stream; it returns the last event id and how
// long the server wants us to wait before the next.
func (l *httpLink) hear(body io.Reader, last string) (string, time.Duration) {
	wait := time.Second
	events := sse.NewReader(body, l.server.box.opts.MaxMessage)
	var m wire.Message
	for {
		ev, err := events.Next()
		if err != nil {
			return last, wait
		}
		if ev.HasID {
			last = ev.ID
		}
		if ev.Retry > 0 {
			wait = min(ev.Retry, backoff.Max)
		}
		if !ev.IsMessage() {
			continue
		}
		if err := scanLoose(ev.Data, &m); err != nil {
			l.r.Noise(ev.Data, err)
			continue
		}
		l.r.Receive(&m, 0)
	}
}
