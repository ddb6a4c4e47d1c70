package sse_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/mcp-workbench/workbench/internal/sse"
)

// FuzzReader compares what is read with what a reading by the letter of the standard gives, in pieces of one byte and
// all at once.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{
		"data: a\n\n",
		"\xef\xbb\xbfdata: a\ndata:b\ndata\n\n",
		"data: a\r\rdata: b\r\n\r\ndata: c\n\r",
		"event: x\nid: 1\nretry: 10\n: comment\ndata:  two spaces\n\n",
		"event: no data\n\ndata: next is a message\n\n",
		"id: \x00\nid\ndata\n\n",
		"id: 7\n\ndata: later\n\n",
		"data: a\n\nid: 8\n\n",
		"id: 8\n\nid: 9\n",
		"id: 8\n\nid: 9\ndata: cut off\n",
		"data: cut off\n",
		"data: cut off",
		"\n\n\ndata\n\n",
		"data: " + strings.Repeat("long ", 100) + "\n\n",
		"data:a\n" + strings.Repeat("data:b\n", 100) + "\n",
		strings.Repeat(": alive\n", 50) + "data: late\n\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		const limit = 300
		want, last, long := readEvents(stream, limit)
		for name, r := range map[string]io.Reader{
			"at once":    bytes.NewReader(stream),
			"byte-wise":  iotest.OneByteReader(bytes.NewReader(stream)),
			"early ends": iotest.DataErrReader(bytes.NewReader(stream)),
		} {
			var got []string
			er := sse.NewReader(r, limit)
			var err error
			for {
				var ev sse.Event
				if ev, err = er.Next(); err != nil {
					if !long && ev.ID != last {
						t.Fatalf("%s, %q: got the id %q at the end, want %q", name, stream, ev.ID, last)
					}
					break
				}
				got = append(got, ev.Type+"|"+ev.ID+"|"+string(ev.Data))
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s, %q:\ngot  %q\nwant %q", name, stream, got, want)
			}
			if errors.Is(err, sse.ErrTooLong) != long {
				t.Fatalf("%s, %q: got %v, want too long: %v", name, stream, err, long)
			}
		}
	})
}

// readEvents reads a whole stream, and reports the id of events without data behind the last event, and whether it met
// an event or a line over the limit, or as much that says nothing, behind which nothing is read.
func readEvents(stream []byte, limit int) (events []string, last string, long bool) {
	text := strings.TrimPrefix(string(stream), "\xef\xbb\xbf")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ReplaceAll(text, "\r", "\n")
	lines := strings.Split(text, "\n")
	// Behind the last newline is no line, but it may be too long already.
	open := lines[len(lines)-1]
	kind, id := "", ""
	var data []string
	idle := 0 // bytes of lines that are no data, since the last event
	for _, line := range lines[:len(lines)-1] {
		if len(line) > limit+64 {
			return events, "", true
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		if name != "data" && (line != "" || data == nil) {
			if idle += len(line) + 1; idle > limit {
				return events, "", true
			}
		}
		switch {
		case line == "" && data != nil:
			events = append(events, kind+"|"+id+"|"+strings.Join(data, "\n"))
			kind, id, last, data, idle = "", "", "", nil, 0
		case line == "":
			kind, last = "", id // the id stays, to go on from
		case name == "data":
			data = append(data, value)
			if len(strings.Join(data, "\n")) > limit {
				return events, "", true
			}
		case name == "event":
			kind = value
		case name == "id" && !strings.Contains(value, "\x00"):
			id = value
		}
	}
	return events, last, len(open) > limit+64
}
