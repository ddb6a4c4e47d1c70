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

var errEventTooLong = errors.New("a server-sent event is over the limit")

// eventReader reads server-sent events in bounded memory.
type eventReader struct {
	r    *bufio.Reader
	max  int
	data []byte
	bom  bool
}

func newEventReader(r io.Reader, max int) *eventReader {
	return &eventReader{r: bufio.NewReaderSize(r, 32<<10), max: max}
}

// next returns the next event that has data, or io.EOF. An event that the
// stream ends in the middle of is dropped, as the standard says.
func (e *eventReader) next() (event, error) {
	var ev event
	e.data = e.data[:0]
	lines := 0
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
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "data":
			if lines > 0 {
				e.data = append(e.data, '\n')
			}
			if len(e.data)+len(value) > e.max {
				return event{}, fmt.Errorf("%w of %d bytes", errEventTooLong, e.max)
			}
			e.data = append(e.data, value...)
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
// next call.
func (e *eventReader) line() ([]byte, error) {
	var long []byte
	for {
		part, err := e.r.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			if errors.Is(err, io.EOF) && len(part)+len(long) > 0 {
				return nil, io.ErrUnexpectedEOF
			}
			return nil, err
		}
		if err == nil && long == nil {
			return e.trim(part), nil
		}
		if len(long)+len(part) > e.max+64 {
			return nil, fmt.Errorf("%w of %d bytes", errEventTooLong, e.max)
		}
		long = append(long, part...)
		if err == nil {
			return e.trim(long), nil
		}
	}
}

func (e *eventReader) trim(line []byte) []byte {
	if !e.bom {
		e.bom = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r"))
}
