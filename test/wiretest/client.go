package wiretest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Client is one end of a conversation of newline-delimited JSON-RPC. Its methods may be called by several goroutines
// where they do not say that they fail the test; those that do belong to the goroutine of the test.
type Client struct {
	tb testing.TB
	*link
}

// Options say how a Client behaves. The zero value refuses every request but ping and waits 30 seconds at most.
type Options struct {
	// Answer replies to what the other side asks: roots/list, sampling/createMessage, elicitation/create. Nil refuses
	// with -32601. It runs on a goroutine of its own for each request; ping does not reach it.
	Answer Answer
	// Limit bounds each single wait; zero means two minutes.
	Limit time.Duration
}

// Answer gives the result of a request as JSON text, or the error to refuse it with.
type Answer func(request Message) (result string, refusal *Error)

// Entry is one line of a transcript.
type Entry struct {
	Sent    bool // from the test to the other side
	Message Message
}

// link is what the views of one conversation share.
type link struct {
	out     io.WriteCloser
	answer  Answer
	limit   time.Duration
	reading sync.WaitGroup // the reader and the answers it began

	sending sync.Mutex // held for one line, so that the transcript has the order of the wire

	mu      sync.Mutex // guards what follows
	log     []Entry
	faults  []error       // lines that are no protocol
	ended   bool          // the other side sends no more
	changed chan struct{} // closed and replaced when log grows, and closed when ended
	lastID  int
}

// New makes a client that writes to out and reads in, which must end when the other side is gone: when the test ends,
// the client closes out and waits for the end of in.
func New(tb testing.TB, out io.WriteCloser, in io.Reader, opts Options) *Client {
	tb.Helper()
	c := newClient(tb, out, opts)
	c.read(in)
	tb.Cleanup(c.finish)
	return c
}

func newClient(tb testing.TB, out io.WriteCloser, opts Options) *Client {
	limit := opts.Limit
	if limit == 0 {
		limit = 2 * time.Minute
	}
	return &Client{tb: tb, link: &link{out: out, answer: opts.Answer, limit: limit, changed: make(chan struct{})}}
}

// In gives a view of the same conversation that fails tb instead, for a subtest.
func (c *Client) In(tb testing.TB) *Client { return &Client{tb: tb, link: c.link} }

// Send writes one line as it is and keeps it in the transcript. It fails the test when the line cannot be written.
func (c *Client) Send(line string) {
	c.tb.Helper()
	if err := c.send([]byte(line)); err != nil {
		c.tb.Fatalf("send %s: %v", Clip(line), err)
	}
}

// Call sends a request with an id of its own and waits for its reply, which may be an error. Params is JSON text; empty
// means none.
func (c *Client) Call(method, params string) Message {
	c.tb.Helper()
	return c.Reply(c.Request(method, params))
}

// Request sends a request with an id of its own and returns the id token.
func (c *Client) Request(method, params string) string {
	c.tb.Helper()
	c.mu.Lock()
	c.lastID++
	id := strconv.Itoa(c.lastID)
	c.mu.Unlock()
	c.Send(Request(id, method, params))
	return id
}

// Notify sends a notification. Params is JSON text; empty means none.
func (c *Client) Notify(method, params string) {
	c.tb.Helper()
	c.Send(Request("", method, params))
}

// Result is Call for a request that must succeed: an error reply fails the test.
func (c *Client) Result(method, params string) json.RawMessage {
	c.tb.Helper()
	reply := c.Call(method, params)
	if reply.Error != nil {
		c.tb.Fatalf("%s %s: got error %v, want a result", method, Clip(params), reply.Error)
	}
	return reply.Result
}

// Reply waits for the reply with exactly that id token, wherever it is in the transcript.
func (c *Client) Reply(id string) Message {
	c.tb.Helper()
	reply, _ := c.Next(0, "a reply to "+id, func(m Message) bool { return m.IsReply(id) })
	return reply
}

// Next waits for the first received message at or after the position from that matches, and returns it with the
// position after it. What describes it in a failure.
func (c *Client) Next(from int, what string, match func(Message) bool) (Message, int) {
	c.tb.Helper()
	timer := time.NewTimer(c.limit)
	defer timer.Stop()
	for {
		c.mu.Lock()
		log, ended, changed := c.log, c.ended, c.changed
		c.mu.Unlock()
		for ; from < len(log); from++ {
			if entry := log[from]; !entry.Sent && match(entry.Message) {
				return entry.Message, from + 1
			}
		}
		if ended {
			c.tb.Fatalf("wait for %s: the other side ended without it", what)
		}
		select {
		case <-changed:
		case <-timer.C:
			c.tb.Fatalf("wait for %s: none within %v", what, c.limit)
		}
	}
}

// Notification waits for the first notification of that method at or after the position from, as [Client.Next] does.
func (c *Client) Notification(from int, method string) (Message, int) {
	c.tb.Helper()
	return c.Next(from, method, func(m Message) bool { return m.IsNotification(method) })
}

// Mark returns the position after everything that was sent and received up to now.
func (c *Client) Mark() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.log)
}

// Transcript returns every line since the position from, in the order of the wire.
func (c *Client) Transcript(from int) []Entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Entry(nil), c.log[from:]...)
}

// CloseInput tells the other side that no more comes.
func (c *Client) CloseInput() { _ = c.out.Close() } // a second close, or one after the other side went, changes nothing

// finish ends the conversation and reports what was wrong with it.
func (c *Client) finish() {
	c.tb.Helper()
	c.CloseInput()
	c.reading.Wait()
	c.report()
}

// report fails the test for each line that was no protocol, and shows a failed test its transcript.
func (c *Client) report() {
	c.tb.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, fault := range c.faults {
		c.tb.Errorf("received a line that is no JSON-RPC message: %v", fault)
	}
	if c.tb.Failed() {
		c.tb.Logf("transcript:\n%s", printable(c.log))
	}
}

// printable shows the last lines of a transcript, long ones cut.
func printable(log []Entry) string {
	const last = 60
	var b strings.Builder
	for _, entry := range log[max(0, len(log)-last):] {
		arrow := "<-"
		if entry.Sent {
			arrow = "->"
		}
		fmt.Fprintf(&b, "  %s %s\n", arrow, Clip(string(entry.Message.Raw)))
	}
	return b.String()
}

// Clip shortens text for a failure message.
func Clip(text string) string {
	const most = 400
	if len(text) <= most {
		return text
	}
	return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(text[:most], ""), len(text))
}

func (l *link) send(line []byte) error {
	l.sending.Lock()
	defer l.sending.Unlock()
	m, err := Parse(line)
	if err != nil {
		m = Message{Raw: line} // a test may send what is no message
	}
	l.keep(Entry{Sent: true, Message: m}, nil)
	// A peer that does not read must not hold the test for ever; streams without deadlines are up to their owner.
	if out, ok := l.out.(interface{ SetWriteDeadline(time.Time) error }); ok {
		_ = out.SetWriteDeadline(time.Now().Add(l.limit))
	}
	_, err = l.out.Write(append(line[:len(line):len(line)], '\n'))
	return err
}

func (l *link) keep(entry Entry, fault error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.log = append(l.log, entry)
	if fault != nil {
		l.faults = append(l.faults, fault)
	}
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *link) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	close(l.changed)
}

// read begins to take in's lines, until it ends.
func (l *link) read(in io.Reader) {
	l.reading.Go(func() {
		defer l.end()
		r := bufio.NewReaderSize(in, 64<<10)
		for {
			line, err := r.ReadBytes('\n')
			if len(line) > 0 {
				l.receive(line)
			}
			if err != nil {
				return
			}
		}
	})
}

func (l *link) receive(line []byte) {
	text, newline := strings.CutSuffix(string(line), "\n")
	m, err := Parse([]byte(text))
	if err == nil && !newline {
		err = errors.New("ends without a newline")
	}
	if err != nil {
		err = fmt.Errorf("%w: %s", err, Clip(text))
	}
	l.keep(Entry{Message: m}, err)
	if err == nil && m.IsRequest() {
		l.reading.Go(func() { l.reply(m) })
	}
}

// reply answers a request of the other side. That the other side is gone by then is no fault of the test.
func (l *link) reply(request Message) {
	result, refusal := "{}", (*Error)(nil)
	switch {
	case request.Method == "ping":
	case l.answer == nil:
		refusal = &Error{Code: -32601, Message: "method not found"}
	default:
		result, refusal = l.answer(request)
	}
	if refusal == nil {
		_ = l.send([]byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, request.ID, result)))
		return
	}
	_ = l.send([]byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":%s}`, request.ID, JSON(refusal))))
}
