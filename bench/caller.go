package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
)

// caller is the driver's side of a conversation with a server. Its methods belong to one goroutine.
type caller interface {
	// Call makes a request and returns the message that answers it.
	Call(method, params string) ([]byte, error)
	// Notify sends a notification without params.
	Notify(method string) error
	// Sequence makes calls one after the other and returns how long each took. The slice is used again.
	Sequence(q *request, e effort) ([]time.Duration, error)
	// Crowd keeps many calls under way and returns how many were answered and how long that took.
	Crowd(q *request, width int, e effort) (calls int, took time.Duration, err error)
}

// effort says when to stop: after so many calls and after that time, whichever comes later.
type effort struct {
	calls int
	time  time.Duration
}

func (e effort) done(calls int, took time.Duration) bool { return calls >= e.calls && took >= e.time }

// request is a call that is measured. Every answer to it must be as long as the one that was checked, its id aside.
type request struct {
	method, params string
	rest           int // the length of the answer without its id
}

// stdioClient speaks newline-delimited JSON-RPC. In a measurement it allocates nothing, so that what is allocated in
// the same process is the front's doing.
type stdioClient struct {
	out    *os.File
	in     *bufio.Reader
	last   uint64 // the id given last
	line   []byte
	took   []time.Duration
	flight map[uint64]bool
}

func newStdioClient(p pipes) *stdioClient {
	return &stdioClient{
		out:    p.in,
		in:     bufio.NewReaderSize(p.out, longestLine),
		took:   make([]time.Duration, 0, 1<<18),
		flight: make(map[uint64]bool, 1024),
	}
}

// appendRequest adds a request with the next id to the lines to send.
func (c *stdioClient) appendRequest(method, params string) {
	c.last++
	c.line = append(c.line, `{"jsonrpc":"2.0","id":`...)
	c.line = strconv.AppendUint(c.line, c.last, 10)
	c.line = append(append(append(c.line, `,"method":"`...), method...), `","params":`...)
	c.line = append(append(c.line, params...), '}', '\n')
}

// flush sends the lines.
func (c *stdioClient) flush() error {
	_, err := c.out.Write(c.line)
	c.line = c.line[:0]
	return err
}

func (c *stdioClient) Notify(method string) error {
	c.line = append(append(append(c.line, `{"jsonrpc":"2.0","method":"`...), method...), "\"}\n"...)
	return c.flush()
}

// Call reads the tools again when it hears that they changed, as clients do; that answer is passed over.
func (c *stdioClient) Call(method, params string) ([]byte, error) {
	c.appendRequest(method, params)
	id := c.last
	if err := c.flush(); err != nil {
		return nil, err
	}
	for {
		line, err := c.read()
		if err != nil {
			return nil, err
		}
		if got, _, ok := replyID(line); ok && got == id {
			return bytes.Clone(line), nil
		}
		if bytes.Contains(line, []byte(`"notifications/tools/list_changed"`)) {
			c.appendRequest("tools/list", "{}")
			if err := c.flush(); err != nil {
				return nil, err
			}
		}
	}
}

func (c *stdioClient) Sequence(q *request, e effort) ([]time.Duration, error) {
	c.took = c.took[:0]
	for begun := time.Now(); !e.done(len(c.took), time.Since(begun)) && len(c.took) < cap(c.took); {
		c.appendRequest(q.method, q.params)
		sent := time.Now()
		if err := c.flush(); err != nil {
			return nil, err
		}
		id, err := c.reply(q)
		if err != nil {
			return nil, err
		}
		c.took = append(c.took, time.Since(sent))
		if id != c.last {
			return nil, fmt.Errorf("the answer to request %d has the id %d", c.last, id)
		}
	}
	return c.took, nil
}

func (c *stdioClient) Crowd(q *request, width int, e effort) (calls int, took time.Duration, err error) {
	clear(c.flight)
	begun := time.Now()
	for open := true; open || len(c.flight) > 0; {
		for open && len(c.flight) < width {
			c.appendRequest(q.method, q.params)
			c.flight[c.last] = true
		}
		if err := c.flush(); err != nil {
			return 0, 0, err
		}
		// What has been answered meanwhile is replaced in one write, as a client does that has many users.
		for more := true; more; more = c.in.Buffered() >= q.rest {
			id, err := c.reply(q)
			if err != nil {
				return 0, 0, err
			}
			if !c.flight[id] {
				return 0, 0, fmt.Errorf("request %d was answered twice, or never made", id)
			}
			delete(c.flight, id)
			calls++
		}
		open = !e.done(calls, time.Since(begun))
	}
	return calls, time.Since(begun), nil
}

// reply reads the next answer to q.
func (c *stdioClient) reply(q *request) (uint64, error) {
	for {
		line, err := c.read()
		if err != nil {
			return 0, err
		}
		id, digits, ok := replyID(line)
		if !ok {
			continue // a notification, or a request of the server
		}
		if len(line)-digits != q.rest {
			return 0, fmt.Errorf("an answer is other than the first one: %s", clip(line))
		}
		return id, nil
	}
}

// read returns the next line, without its newline, until the next call.
func (c *stdioClient) read() ([]byte, error) {
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	return line[:len(line)-1], nil
}

// replyID finds the id of an answer, which servers write at the beginning or at the end, and the number of its digits.
// It looks no further than that, for the sake of long answers.
func replyID(line []byte) (id uint64, digits int, ok bool) {
	const near = 64
	part := line[:min(near, len(line))]
	start, end := findID(part)
	if end == 0 {
		part = line[max(0, len(line)-near):]
		if start, end = findID(part); end == 0 {
			return 0, 0, false
		}
	}
	for _, d := range part[start:end] {
		if d < '0' || d > '9' {
			return 0, 0, false
		}
		id = 10*id + uint64(d-'0')
	}
	return id, end - start, true
}

// decode reads the result of an answer into v.
func decode(line []byte, v any) error {
	var m struct {
		Result json.RawMessage
		Error  *struct{ Message string }
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return fmt.Errorf("read %s: %w", clip(line), err)
	}
	if m.Error != nil {
		return errors.New(m.Error.Message)
	}
	return json.Unmarshal(m.Result, v)
}
