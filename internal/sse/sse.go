// Package sse reads server-sent events in bounded memory: those of remote MCP servers, and those in which an endpoint
// of models streams a reply.
//
//	r := sse.NewReader(resp.Body, maxMessage)
//	for ev, err := r.Next(); err == nil; ev, err = r.Next() { … }
package sse

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// Event is one server-sent event (WHATWG HTML, "Server-sent events").
type Event struct {
	Type  string // "" means "message"
	ID    string
	HasID bool
	Data  []byte // valid until the next event is read
	Retry time.Duration
}

// IsMessage reports whether the event has data and is of the type that events have without one, as those of MCP are.
func (ev *Event) IsMessage() bool {
	return len(ev.Data) > 0 && (ev.Type == "" || ev.Type == "message")
}

// ErrTooLong is wrapped by the error for an event, or for a silence, that goes on beyond the limit.
var ErrTooLong = errors.New("a server-sent event is over the limit")

// Reader reads the events of one stream. It is for one goroutine.
type Reader struct {
	r    *bufio.Reader
	max  int
	data []byte
	long []byte // the line being read
	// begun says that the first line was read, and cr that the last one ended with CR, so that an LF behind it belongs
	// to it.
	begun, cr bool
}

// NewReader returns a reader of r whose events have at most max bytes of data.
func NewReader(r io.Reader, max int) *Reader {
	return &Reader{r: bufio.NewReaderSize(r, 32<<10), max: max}
}

// Next returns the next event that has data, or io.EOF. An event that the stream ends in the middle of is dropped, as
// the standard says. The event that comes with an error has the id and the time to wait of events without data before
// it: where to take up the stream again.
func (e *Reader) Next() (Event, error) {
	var ev, passed Event
	e.data = e.data[:0]
	lines, empty := 0, 0
	for {
		line, err := e.line()
		if err != nil {
			return passed, err
		}
		if len(line) == 0 {
			if lines > 0 {
				ev.Data = e.data
				return ev, nil
			}
			ev.Type = ""
			passed = ev
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		// Signs of life between events are few; what comes without end and says nothing is not one.
		if string(field) != "data" {
			if empty += len(line) + 1; empty > e.max {
				return Event{}, fmt.Errorf("%w of %d bytes and says nothing", ErrTooLong, e.max)
			}
		}
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "data":
			if lines > 0 {
				e.data = append(e.data, '\n')
			}
			if len(e.data)+len(value) > e.max {
				return Event{}, fmt.Errorf("%w of %d bytes", ErrTooLong, e.max)
			}
			e.data = extend(e.data, value)
			lines++
		case "event":
			ev.Type = string(value)
		case "id":
			if !bytes.ContainsRune(value, 0) {
				ev.ID, ev.HasID = string(value), true
			}
		case "retry":
			if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
				ev.Retry = time.Duration(ms) * time.Millisecond
			}
		}
	}
}

// Buffered reports whether more of the stream has come than was read.
func (e *Reader) Buffered() bool { return e.r.Buffered() > 0 }

// line reads one line ended by LF, CRLF or CR; the result is valid until the next call. It waits for no byte behind the
// end of a line.
func (e *Reader) line() ([]byte, error) {
	e.long = e.long[:0]
	for {
		if _, err := e.r.Peek(1); err != nil {
			if errors.Is(err, io.EOF) && len(e.long) > 0 {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		part, _ := e.r.Peek(e.r.Buffered())
		if e.cr && part[0] == '\n' { // the rest of a CRLF
			e.cr = false
			_, _ = e.r.Discard(1)
			continue
		}
		e.cr = false
		end := bytes.IndexAny(part, "\r\n")
		if end < 0 {
			end = len(part)
		}
		if len(e.long)+end > e.max+64 {
			return nil, fmt.Errorf("%w of %d bytes", ErrTooLong, e.max)
		}
		e.long = extend(e.long, part[:end])
		if end == len(part) {
			_, _ = e.r.Discard(end)
			continue
		}
		e.cr = part[end] == '\r'
		_, _ = e.r.Discard(end + 1)
		if !e.begun {
			e.begun = true
			return bytes.TrimPrefix(e.long, []byte("\xef\xbb\xbf")), nil
		}
		return e.long, nil
	}
}

// extend appends, and doubles a long slice that is full: the steps of append are smaller, and leave more behind to be
// collected.
func extend(b, more []byte) []byte {
	if need := len(b) + len(more); need > cap(b) {
		b = append(make([]byte, 0, max(need, 2*cap(b))), b...)
	}
	return append(b, more...)
}
