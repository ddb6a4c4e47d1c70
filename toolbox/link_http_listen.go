package toolbox

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// listen keeps the GET stream open. A server that has none answers 405.
func (l *httpLink) listen() {
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
		wait = min(2*wait, backoffMax)
	}
}

// hear reads one life of the GET stream; it returns the last event id and how
// long the server wants us to wait before the next.
func (l *httpLink) hear(body io.Reader, last string) (string, time.Duration) {
	wait := time.Second
	events := newEventReader(body, l.server.box.opts.MaxMessage)
	var m wire.Message
	for {
		ev, err := events.next()
		if err != nil {
			return last, wait
		}
		if ev.HasID {
			last = ev.ID
		}
		if ev.Retry > 0 {
			wait = min(ev.Retry, backoffMax)
		}
		if !ev.isMessage() {
			continue
		}
		if err := scanLoose(ev.Data, &m); err != nil {
			l.r.Noise(ev.Data, err)
			continue
		}
		l.r.Receive(&m, 0)
	}
}
