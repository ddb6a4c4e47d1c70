package record

import (
	"context"
	"errors"
	"io"
	"strconv"
	"sync"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/transcript"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox/link"
)

// passage passes on what a client and a server say over a link, as it is but for the ids of the client's requests,
// which are numbers on links, and keeps it. It is the endpoint of one session, and the receiver of the link.
type passage struct {
	link    link.Link
	kept    *transcript.Recorder
	send    func([]byte)
	broken  chan error // why the link is of no use any more
	answers chan struct{}

	mu   sync.Mutex
	last uint64
	asks map[uint64]asked
}

// asked is a request of the client that is not answered.
type asked struct {
	id    []byte
	hello bool
}

func newPassage(l link.Link, kept *transcript.Recorder) *passage {
	return &passage{link: l, kept: kept, broken: make(chan error, 1), answers: make(chan struct{}, 1), asks: make(map[uint64]asked)}
}

// Connect implements wire.Endpoint.
func (p *passage) Connect(send func([]byte)) wire.Session {
	p.send = send
	p.link.Begin(p)
	return &fromClient{passage: p}
}

// fromClient is the client's side of a passage.
type fromClient struct {
	*passage
	version string // of the protocol, as the last request says that says so
}

// Receive passes on a message of the client.
func (c *fromClient) Receive(raw []byte) {
	writeLine(c.kept.Client(), raw)
	var m wire.Message
	if err := wire.Scan(raw, &m); err != nil {
		c.answer(wire.AsError(err).Append(nil))
		return
	}
	edits, number := []wire.Edit(nil), uint64(0)
	switch {
	case m.Kind == wire.Request:
		if version, _ := m.Text(m.Params, "_meta", "io.modelcontextprotocol/protocolVersion"); version != "" && version != c.version {
			c.version = version // without a handshake, each request says so
			c.link.Handshaken(version)
		}
		number = c.begin(&m)
		edits = []wire.Edit{{Span: m.ID, New: digits(number)}}
	case m.IsMethod("notifications/cancelled"):
		if id, err := wire.FindPath(raw, m.Params, "requestId"); err == nil && id.Present() {
			if of := c.numberOf(m.Bytes(id)); of > 0 {
				edits = []wire.Edit{{Span: id, New: digits(of)}}
			}
		}
	}
	msg, err := wire.Splice(nil, raw, edits...), error(nil)
	if number > 0 {
		err = c.link.Send(msg, number)
	} else {
		err = c.link.Tell(msg, func(error) {}) // nobody waits for it
	}
	if err != nil {
		c.Lost(number, err)
	}
}

// Close waits until all is answered, or ctx ends.
func (c *fromClient) Close(ctx context.Context) error {
	for {
		c.mu.Lock()
		waiting := len(c.asks)
		c.mu.Unlock()
		if waiting == 0 {
			return nil
		}
		select {
		case <-c.answers:
		case <-c.link.Done():
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func digits(number uint64) []byte { return strconv.AppendUint(nil, number, 10) }

func writeLine(to io.Writer, line []byte) { _, _ = to.Write(append(line[:len(line):len(line)], '\n')) }

// begin numbers a request of the client.
func (p *passage) begin(m *wire.Message) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	p.asks[p.last] = asked{append([]byte(nil), m.Bytes(m.ID)...), m.IsMethod("initialize")}
	return p.last
}

// numberOf is the number of the request with an id; 0 if there is none.
func (p *passage) numberOf(id []byte) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	for number, one := range p.asks {
		if string(one.id) == string(id) {
			return number
		}
	}
	return 0
}

// under gives the request of a number that is not answered.
func (p *passage) under(number uint64) (asked, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one, is := p.asks[number]
	return one, is
}

// end notes that the request of a number has its answer.
func (p *passage) end(number uint64) {
	p.mu.Lock()
	delete(p.asks, number)
	p.mu.Unlock()
	select {
	case p.answers <- struct{}{}:
	default:
	}
}

// answer gives the client a message.
func (p *passage) answer(line []byte) {
	writeLine(p.kept.Server(), line)
	p.send(line)
}

// Receive implements link.Receiver.
func (p *passage) Receive(m *wire.Message, _ uint64) {
	if m.Kind == wire.Result || m.Kind == wire.Failure {
		if number, ok := link.Number(m.Bytes(m.ID)); ok {
			p.reply(number, m)
			return
		}
	}
	p.answer(m.Raw)
}

func (p *passage) reply(number uint64, m *wire.Message) {
	defer p.end(number) // not before the client has it: the session ends when nothing is under way
	one, is := p.under(number)
	if !is {
		p.answer(m.Raw) // to no request: the client is to see what its server does
		return
	}
	if version, _ := m.Text(m.Result, "protocolVersion"); one.hello && version != "" {
		p.link.Handshaken(version)
	}
	p.answer(wire.Splice(nil, m.Raw, wire.Edit{Span: m.ID, New: one.id}))
}

// Lost implements link.Receiver. What was no request has nobody who waits for it.
func (p *passage) Lost(number uint64, err error) {
	defer p.end(number)
	if one, is := p.under(number); is {
		p.answer(wire.AppendError(nil, one.id, wire.CodeInternal, foreign.NewText(err.Error()).String(), nil))
	}
}

// Noise implements link.Receiver: a line that is no message is left out.
func (p *passage) Noise([]byte, error) {}

// TooLong implements link.Receiver.
func (p *passage) TooLong(err *wire.TooLongError) { p.Break(err) }

// Break implements link.Receiver.
func (p *passage) Break(cause error) {
	select {
	case p.broken <- cause:
	default:
	}
}

// Draining implements link.Receiver.
func (p *passage) Draining() { p.Break(errors.New("the server takes no more requests")) }
