package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// maxRounds is how often a modern server may ask for more input on one request of a legacy client, and maxQuestions for
// how much at a time.
const (
	maxRounds    = 20
	maxQuestions = 100
)

// repeatable is a client's request kept to be sent again with the answers that a modern server asked for.
type repeatable struct {
	raw    []byte // with the edits applied, the client's id and token still in it
	rounds int
	// told is the progress that the client was told of, and from what it was told of before the request was sent the
	// last time.
	told, from float64
}

// onward gives the edits that have the progress of a request that was sent again go on where it was, since progress only
// rises: the server counts anew each time. token is where the progress token stands, to be replaced by the client's.
func (r *repeatable) onward(m *wire.Message, token wire.Edit) []wire.Edit {
	edits := []wire.Edit{token}
	for _, name := range []string{"progress", "total"} {
		at, _ := wire.FindPath(m.Raw, m.Params, name)
		value, err := strconv.ParseFloat(string(m.Bytes(at)), 64)
		if err != nil {
			continue
		}
		if name == "progress" {
			r.told = max(r.told, r.from+value)
		}
		if r.from > 0 {
			edits = append(edits, wire.Edit{Span: at, New: strconv.AppendFloat(nil, r.from+value, 'f', -1, 64)})
		}
	}
	slices.SortFunc(edits, func(a, b wire.Edit) int { return a.Span.Start - b.Span.Start })
	return edits
}

func newRepeatable(c *call, edits []wire.Edit) *repeatable {
	return &repeatable{raw: wire.Splice(nil, c.Raw, edits...)}
}

// ask puts to a legacy client what a modern server wants to know before it answers (specification 2026-07-28, multi
// round-trip requests), and sends the request again when all is answered. It reports whether the result was such.
func (f *flight) ask(m *wire.Message) bool {
	var out [3]wire.Span
	if m.Kind != wire.Result || m.Raw[m.Result.Start] != '{' {
		return false
	}
	if err := wire.Find(m.Raw, m.Result, []string{"resultType", "inputRequests", "requestState"}, out[:]); err != nil {
		f.fail(fmt.Errorf("the server's result cannot be read: %s", text(err)))
		return true
	}
	switch kind, _ := wire.Unquote(m.Bytes(out[0])); {
	case kind == "complete" || !out[0].Present():
		return false
	case kind != "input_required":
		f.fail(fmt.Errorf("the server answered with a result of type %q, which is not of the protocol revision of this session", foreign.NewName(kind)))
		return true
	case f.again == nil:
		f.fail(errors.New("the server was just replaced by one of another protocol revision: make the request again"))
		return true
	}
	f.again.rounds++
	if f.again.rounds > maxRounds {
		f.fail(fmt.Errorf("the server asked for input %d times without answering", maxRounds))
		return true
	}
	r := &round{f: f, state: bytes.Clone(m.Bytes(out[2]))}
	type question struct {
		method string
		params []byte
	}
	var questions []question
	for key, value := range wire.Members(m.Raw, out[1]) {
		method, params, err := eras.Question(m.Raw, value)
		if err != nil {
			f.fail(fmt.Errorf("the server asked for input that no client can give: %w", err))
			return true
		}
		questions = append(questions, question{method, bytes.Clone(params)})
		r.answers = append(r.answers, answer{key: bytes.Clone(m.Bytes(key))})
	}
	r.left = len(questions)
	switch {
	case r.left == 0:
		r.again()
		return true
	case r.left > maxQuestions:
		f.fail(fmt.Errorf("the server asked for %d inputs at once; at most %d are put to a client", r.left, maxQuestions))
		return true
	}
	r.expiry = time.AfterFunc(parkTime, func() {
		f.fail(fmt.Errorf("the client did not answer the server's question within %v", parkTime))
	})
	f.asking.Store(r)
	if f.over.Load() { // it ended meanwhile and did not find the round
		r.end(false)
		return true
	}
	for i, q := range questions {
		k := &ask{carrier: &f.request, answer: func(m *wire.Message) { r.answer(i, m) }}
		if err := f.by.asks.question(f.out, k, f.server.Load(), q.method, q.params); err != nil {
			f.fail(err)
			return true
		}
		if f.over.Load() { // it ended meanwhile and did not find the question
			r.end(true)
			return true
		}
	}
	return true
}

// round is one set of questions of a modern server.
type round struct {
	f     *flight
	state []byte

	expiry *time.Timer // for a client that does not answer

	mu      sync.Mutex
	left    int
	answers []answer // in the order in which the server asked
	failed  bool
}

// answer is the client's result for the question of a key. Both are JSON.
type answer struct{ key, result []byte }

// answer takes the client's response to a question.
func (r *round) answer(number int, m *wire.Message) {
	r.mu.Lock()
	if r.failed {
		r.mu.Unlock()
		return
	}
	if m.Kind == wire.Failure {
		// There is no way to hand a refusal to the server, so the request fails with it.
		r.failed = true
		r.mu.Unlock()
		r.f.finish(wire.Splice(nil, m.Raw, wire.Edit{Span: m.ID, New: r.f.id}), cancelled)
		return
	}
	r.answers[number].result = bytes.Clone(m.Bytes(m.Result))
	r.left--
	last := r.left == 0
	r.mu.Unlock()
	if last && r.expiry.Stop() { // else the request has ended
		r.again()
	}
}

// end forgets what the client has not answered of a request that has ended, and tells the client so, unless it gave the
// request up.
func (r *round) end(tell bool) {
	r.expiry.Stop()
	for _, k := range r.f.by.asks.take(func(k *ask) bool { return k.of == nil && k.carrier == &r.f.request }) {
		if tell {
			r.f.out.Message(k.withdrawal(callEnded))
		}
	}
}

// again sends the request with the answers.
func (r *round) again() {
	f := r.f
	f.again.from = f.again.told
	text := []byte(`"inputResponses":{`)
	for _, a := range r.answers {
		text = wire.AppendMember(text, a.key, a.result)
	}
	text = append(text, '}')
	if r.state != nil {
		text = append(append(text, `,"requestState":`...), r.state...)
	}
	var m wire.Message
	if err := wire.Scan(f.again.raw, &m); err != nil || !m.Params.Present() {
		f.fail(fmt.Errorf("the request cannot be made again: %w", err))
		return
	}
	raw := wire.Splice(nil, m.Raw, eras.InsertMember(m.Raw, m.Params, text))
	if err := wire.Scan(raw, &m); err != nil {
		f.fail(fmt.Errorf("the request cannot be made again: %w", err))
		return
	}
	next := &toolbox.Call{Raw: raw, ID: m.ID, Params: m.Params, LogLevel: f.level, Tasks: f.call.Tasks, Handler: f}
	next.Meta, _ = wire.FindPath(raw, m.Params, "_meta")
	next.Token, _ = wire.FindPath(raw, m.Params, "_meta", "progressToken")
	f.repeat.Store(next)
	if !f.over.Load() { // else it ended before who ended it could find next
		f.server.Load().Send(next)
	}
}
