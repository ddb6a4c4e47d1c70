package toolbox

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// event is one server-sent event (WHATWG HTML, "Server-sent events").
type event struct {
	Type  string // "" means "message"
	ID    string
	HasID bool
	Data  []byte // valid until the next event is read
	Retry time.Duration
}

// isMessage reports whether the event may be a message of MCP: those are of the type that events have without one.
func (ev *event) isMessage() bool {
	return len(ev.Data) > 0 && (ev.Type == "" || ev.Type == "message")
}

var errEventTooLong = errors.New("a server-sent event is over the limit")

// eventReader reads server-sent events in bounded memory.
type eventReader struct {
	r    *bufio.Reader
	max  int
	data []byte
	long []byte // the line being read
	// begun says that the first line was read, and cr that the last one ended
	// with CR, so that an LF behind it belongs to it.
	begun, cr bool
}

func newEventReader(r io.Reader, max int) *eventReader {
	return &eventReader{r: bufio.NewReaderSize(r, 32<<10), max: max}
}

// next returns the next event that has data, or io.EOF. An event that the
// stream ends in the middle of is dropped, as the standard says.
func (e *eventReader) next() (event, error) {
	var ev event
	e.data = e.data[:0]
	lines, empty := 0, 0
	for {
		line, err := e.line()
		if err != nil {
			return event{}, err
		}
		if len(line) == 0 {
			if lines > 0 {
				ev.Data = e.data
				return ev, nil
			}
			ev.Type = ""
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		// Signs of life between events are few; what comes without end and
		// says nothing is not one.
		if string(field) != "data" {
			if empty += len(line) + 1; empty > e.max {
				return event{}, fmt.Errorf("%w of %d bytes and says nothing", errEventTooLong, e.max)
			}
		}
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "data":
			if lines > 0 {
				e.data = append(e.data, '\n')
			}
			if len(e.data)+len(value) > e.max {
				return event{}, fmt.Errorf("%w of %d bytes", errEventTooLong, e.max)
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

// line reads one line ended by LF, CRLF or CR; the result is valid until the
// next call. It waits for no byte behind the end of a line.
func (e *eventReader) line() ([]byte, error) {
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
			return nil, fmt.Errorf("%w of %d bytes", errEventTooLong, e.max)
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

// extend appends, and doubles a long slice that is full: the steps of append are
// smaller, and leave more behind to be collected.
func extend(b, more []byte) []byte {
	if need := len(b) + len(more); need > cap(b) {
		b = append(make([]byte, 0, max(need, 2*cap(b))), b...)
	}
	return append(b, more...)
}
