package link

import (
	"bytes"
	"mime"
	"net/http"
	"time"

	"github.com/mcp-workbench/workbench/internal/backoff"
	"github.com/mcp-workbench/workbench/internal/sse"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// stream is a stream of events that bring messages, and how far it was read: it may be taken up again there, over
// another response.
type stream struct {
	last  string        // the id of the last event; "" if events have none
	retry time.Duration // how long the server wants us to wait before we come back
}

// read hands on the messages of a stream, and to r what is none, until take is done with it. The error says how the
// stream ended before that, or is that of take.
func (s *stream) read(events *sse.Reader, r Receiver, take func(*wire.Message) (done bool, err error)) (done bool, err error) {
	var m wire.Message
	for {
		ev, err := events.Next()
		if ev.HasID {
			s.last = ev.ID
		}
		if ev.Retry > 0 {
			s.retry = min(ev.Retry, backoff.Max)
		}
		if err != nil {
			return false, err
		}
		if !ev.IsMessage() {
			continue
		}
		if err := scanLoose(ev.Data, &m); err != nil {
			r.Noise(ev.Data, err)
		} else if done, err := take(&m); done || err != nil {
			return true, err
		}
	}
}

// bringsEvents reports whether a response is a stream of events.
func bringsEvents(resp *http.Response) bool {
	return resp.StatusCode/100 == 2 && kindOf(resp) == "text/event-stream"
}

// kindOf is the content type of a response without its parameters, which most have none of.
func kindOf(resp *http.Response) string {
	kind := resp.Header.Get("Content-Type")
	if kind != "application/json" && kind != "text/event-stream" {
		kind, _, _ = mime.ParseMediaType(kind)
	}
	return kind
}

// all is for streams on which all messages are handed on, to the end.
func all(r Receiver) func(*wire.Message) (bool, error) {
	return func(m *wire.Message) (bool, error) {
		r.Receive(m, 0)
		return false, nil
	}
}

// scanLoose reads a message that may hold line breaks between its tokens.
func scanLoose(data []byte, m *wire.Message) error {
	data = bytes.TrimSpace(wire.Unmarked(data))
	if bytes.IndexByte(data, '\n') >= 0 || bytes.IndexByte(data, '\r') >= 0 {
		data = wire.Compact(nil, data)
	}
	err := wire.Scan(data, m)
	if err != nil {
		err = wire.Forgive(data, m, err)
	}
	return err
}
