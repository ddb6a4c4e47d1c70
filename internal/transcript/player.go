package transcript

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"sync"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/mask"
	"github.com/mcp-workbench/workbench/internal/pause"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// exchange is a request of the client and what the server said until its reply.
type exchange struct {
	method string
	params any       // without _meta
	token  []byte    // its progress token
	said   []message // in their order, the reply the last, and then what came before the next request
	replied,
	used bool
}

// Player is a server that answers as one has that was recorded: a request by the reply to the one of its method and
// params, in the order of the recording where there are several, and once those are used by the last. Ids and progress
// tokens are those of the request that is answered. It is a [wire.Endpoint].
type Player struct {
	// Times has it take as long as was recorded.
	Times bool
	// Exited is called when the server has ended at this place by itself; nil means that the request stays unanswered.
	Exited func(status int)

	masks     mask.Set
	exchanges []*exchange
	exit      int
}

// NewPlayer reads a transcript.
func NewPlayer(data []byte) (*Player, error) {
	t, err := parse(data)
	if err != nil {
		return nil, err
	}
	p := &Player{exit: t.exit}
	open := make(map[string]*exchange) // by ids
	var last *exchange
	for _, m := range t.messages {
		id := string(m.Bytes(m.ID))
		switch {
		case !m.server && m.Kind == wire.Request:
			last = &exchange{method: string(m.Bytes(m.Method)), params: p.params(m.Message)}
			last.token = m.Get(m.Params, "_meta", "progressToken")
			p.exchanges = append(p.exchanges, last)
			open[id] = last
		case !m.server:
		case m.Kind == wire.Result || m.Kind == wire.Failure:
			if x := open[id]; x != nil {
				x.said, x.replied = append(x.said, m), true
				delete(open, id)
			}
		default:
			if x := whose(m, open, last); x != nil {
				x.said = append(x.said, m)
			}
		}
	}
	if len(p.exchanges) == 0 {
		return nil, fmt.Errorf("it has no request of a client")
	}
	return p, nil
}

// whose is the exchange that a message of the server belongs to: that of its progress token, or the last.
func whose(m message, open map[string]*exchange, last *exchange) *exchange {
	if m.IsMethod("notifications/progress") {
		token := m.Get(m.Params, "progressToken")
		for _, x := range open {
			if x.token != nil && bytes.Equal(x.token, token) {
				return x
			}
		}
		return nil
	}
	return last
}

// params are those of a request as values, without what differs from one session to the next.
func (p *Player) params(m *wire.Message) any {
	raw, _ := p.masks.JSON(m.Bytes(m.Params)) // as they were recorded
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var params any
	if d.Decode(&params) != nil {
		return nil
	}
	object, ok := params.(map[string]any)
	if !ok {
		return params
	}
	delete(object, "_meta")
	if arguments, ok := object["arguments"].(map[string]any); ok && len(arguments) == 0 {
		delete(object, "arguments") // clients leave out what is empty, or do not
	}
	if len(object) == 0 {
		return nil
	}
	return object
}

// Connect begins a session, in which nothing was asked yet.
func (p *Player) Connect(send func(msg []byte)) wire.Session {
	s := &playing{p: p, send: send, answers: make(map[string]chan struct{})}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	for _, x := range p.exchanges {
		one := *x
		s.exchanges = append(s.exchanges, &one)
	}
	return s
}

// playing is one session with a player.
type playing struct {
	p    *Player
	send func([]byte)
	// ctx is the session's life: what is waited for in it ends with it.
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu        sync.Mutex
	exchanges []*exchange
	answers   map[string]chan struct{} // that the server's questions wait for
	asked     int
}

// Receive implements wire.Session.
func (s *playing) Receive(raw []byte) {
	var m wire.Message
	if err := wire.Scan(bytes.Clone(raw), &m); err != nil {
		return
	}
	switch m.Kind {
	case wire.Request:
		s.request(&m)
	case wire.Result, wire.Failure:
		s.mu.Lock()
		answered := s.answers[string(m.Bytes(m.ID))]
		delete(s.answers, string(m.Bytes(m.ID)))
		s.mu.Unlock()
		if answered != nil {
			close(answered)
		}
	}
}

// Close implements wire.Session.
func (s *playing) Close(context.Context) error {
	s.cancel()
	s.work.Wait()
	return nil
}

// request answers a request, on this goroutine where nothing is waited for.
func (s *playing) request(m *wire.Message) {
	x, others := s.find(m)
	switch {
	case x != nil && (s.p.Times || x.asks()):
		s.work.Go(func() { s.play(m, x) })
	case x != nil:
		s.play(m, x)
	case m.IsMethod("ping"):
		s.send(wire.AppendResult(nil, m.Bytes(m.ID), []byte("{}")))
	default:
		what := fmt.Sprintf("the transcript has no %s", foreign.NewName(string(m.Bytes(m.Method))))
		if others > 0 {
			what += fmt.Sprintf(" with these params; it has %d with others", others)
		}
		s.send(wire.AppendError(nil, m.Bytes(m.ID), wire.CodeInvalidParams, what, nil))
	}
}

// find takes the exchange that a request is answered by, and says how many there are of its method.
func (s *playing) find(m *wire.Message) (found *exchange, ofMethod int) {
	method, params := string(m.Bytes(m.Method)), s.p.params(m)
	loose := method == "initialize" || method == "server/discover" || method == "logging/setLevel"
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.exchanges {
		if x.method != method {
			continue
		}
		ofMethod++
		if !loose && !reflect.DeepEqual(x.params, params) {
			continue
		}
		if found = x; !x.used {
			break
		}
	}
	if found != nil {
		found.used = true
	}
	return found, ofMethod
}

// asks reports whether the server asks the client something meanwhile.
func (x *exchange) asks() bool {
	return slices.ContainsFunc(x.said, func(m message) bool { return m.Kind == wire.Request })
}

// play says what was said.
func (s *playing) play(m *wire.Message, x *exchange) {
	id := m.Bytes(m.ID)
	own := m.Get(m.Params, "_meta", "progressToken")
	for _, said := range x.said {
		if s.p.Times && pause.For(s.ctx, said.after) != nil {
			return
		}
		switch {
		case said.Kind == wire.Result || said.Kind == wire.Failure:
			s.send(wire.Splice(nil, said.Raw, wire.Edit{Span: said.ID, New: id}))
		case said.Kind == wire.Request:
			if !s.ask(said) {
				return
			}
		case said.IsMethod("notifications/progress"):
			if token, err := wire.FindPath(said.Raw, said.Params, "progressToken"); err == nil && own != nil {
				s.send(wire.Splice(nil, said.Raw, wire.Edit{Span: token, New: own}))
			}
		default:
			s.send(said.Raw)
		}
	}
	if !x.replied && s.p.exit >= 0 && s.p.Exited != nil {
		s.p.Exited(s.p.exit)
	}
}

// ask asks the client what the server has asked, and waits for the answer.
func (s *playing) ask(question message) bool {
	answered := make(chan struct{})
	s.mu.Lock()
	s.asked++
	id := wire.AppendQuote(nil, "replay-"+strconv.Itoa(s.asked))
	s.answers[string(id)] = answered
	s.mu.Unlock()
	s.send(wire.Splice(nil, question.Raw, wire.Edit{Span: question.ID, New: id}))
	select {
	case <-answered:
		return true
	case <-s.ctx.Done():
		return false
	}
}
