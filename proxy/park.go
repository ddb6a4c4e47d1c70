package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/naming"
	"github.com/mcp-workbench/workbench/toolbox"
)

// parkTime is how long a parked request waits for the client's retry, each time that the client is asked.
const parkTime = 10 * time.Minute

// parked is a request of a modern client to a legacy server that asked for something in the midst of it. The client was
// answered with input_required and makes its request again with the input; meanwhile the server's work goes on waiting
// (specification 2026-07-28, multi round-trip requests).
type parked struct {
	states *states
	first  *flight // whose call the server works on
	number uint64
	digest uint64 // of what was requested
	expiry *time.Timer

	mu      sync.Mutex
	until   time.Time // when the client is to have come back, which was asked last
	waiting *flight   // the client's request that is to be answered now, if any
	asked   map[string]held
	next    int
	fresh   []held // not yet told to the client
	reply   []byte // the server's reply that came while nobody waited, charged to the server
	err     error
	over    bool
}

// replied is what is parked of a call whose reply has come: nothing more. Whichever of the two is noted first, the reply or
// what the server asks, is what the client gets.
var replied = &parked{over: true}

// settle notes that the reply has come, unless the call is parked, which then takes the reply.
func (f *flight) settle() *parked {
	if f.terms.AsksInResults() && f.parked.CompareAndSwap(nil, replied) {
		return nil
	}
	return f.parked.Load()
}

// park answers the client with what the server asks for; it reports false if the reply has come.
func (f *flight) park(h held) bool {
	if why := notOffered(f.terms.capabilities, scanned(h.raw)); why != "" {
		h.ask.Refuse(wire.CodeMethodNotFound, why)
		return true
	}
	p := f.parked.Load()
	if p == nil {
		p = newParked(f)
		switch {
		case !f.parked.CompareAndSwap(nil, p):
			p.end("", nil, wire.Span{}) // another question of the server, or its reply, came at the same moment
			p = f.parked.Load()
		case f.over.Load(): // it ended meanwhile and did not find what is parked
			p.end(nobodyAnswers, nil, wire.Span{})
		}
	}
	if p == replied {
		return false
	}
	p.add(h)
	return true
}

func newParked(f *flight) *parked {
	p := &parked{states: f.by.states, first: f, waiting: f, digest: f.digest, asked: make(map[string]held)}
	p.mu.Lock() // it can be found before it is complete
	defer p.mu.Unlock()
	p.number, p.over = p.states.add(p)
	p.expiry = time.AfterFunc(parkTime, p.expire)
	return p
}

// end gives the calls up whose client is to come back with answers, and takes nothing more in.
func (st *states) end() {
	st.mu.Lock()
	st.ended = true
	st.mu.Unlock()
	for _, p := range st.parked() {
		p.end(nobodyAnswers, nil, wire.Span{})
	}
}

// parked are the calls whose client is to come back with answers.
func (st *states) parked() (all []*parked) {
	for _, what := range st.all() {
		if p, ok := what.(*parked); ok {
			all = append(all, p)
		}
	}
	return all
}

// current is the client's request that waits for the server now.
func (p *parked) current() *flight {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waiting
}

// add takes one more request of the server and, if the client waits, tells it.
func (p *parked) add(h held) {
	p.mu.Lock()
	if p.over {
		p.mu.Unlock()
		h.ask.Refuse(wire.CodeInternal, nobodyAnswers)
		return
	}
	p.fresh = append(p.fresh, h)
	p.mu.Unlock()
	p.tell()
}

// withdraw forgets a request of the server that needs no answer any more.
func (p *parked) withdraw(a *toolbox.Ask) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fresh = slices.DeleteFunc(p.fresh, func(h held) bool { return h.ask == a })
	maps.DeleteFunc(p.asked, func(_ string, h held) bool { return h.ask == a })
}

// tell answers the waiting request with what the server asked.
func (p *parked) tell() {
	p.mu.Lock()
	f := p.waiting
	if f == nil || len(p.fresh) == 0 {
		p.mu.Unlock()
		return
	}
	p.waiting = nil
	questions := wire.NewObject(nil)
	for _, h := range p.fresh {
		p.next++
		key := fmt.Sprintf("r%d", p.next)
		p.asked[key] = h
		questions = eras.AppendQuestionToModern(questions.Member(key), scanned(h.raw))
	}
	p.fresh = nil
	p.until = time.Now().Add(parkTime)
	p.expiry.Reset(parkTime)
	state := p.states.close(p.number, p.digest, p.until)
	p.mu.Unlock()
	f.reply(asking(questions.End(), state))
}

// resume connects the retry of a parked request with it. It reports whether the request carried a state of ours, and so
// was dealt with.
func (f *flight) resume(c *call, srv *toolbox.Server) bool {
	state, _ := wire.Unquote(c.Bytes(c.State))
	number, digest, err := f.by.states.open(state)
	if errors.Is(err, errForeignState) {
		return false // the server's own
	}
	p, _ := f.by.states.find(number).(*parked)
	// A server that a reload has replaced goes on with its calls for a while.
	if err != nil || p == nil || digest != p.digest || digest != f.digest || naming.AddressOf(p.first.server.Load()) != naming.AddressOf(srv) {
		f.fail(&wire.Error{Code: wire.CodeInvalidParams, Message: "params.requestState does not belong to this request, or the request it belongs to is over: make the request again without it"})
		return true
	}
	if c.Token.Present() {
		f.token = bytes.Clone(c.Bytes(c.Token))
	}
	f.parked.Store(p)
	p.retry(f, c)
	return true
}

// retry takes the client's answers and has the request wait for the server.
func (p *parked) retry(f *flight, c *call) {
	answers := make(map[*toolbox.Ask][]byte)
	p.mu.Lock()
	if p.waiting != nil || p.over {
		p.mu.Unlock()
		f.fail(errUsed)
		return
	}
	for key, value := range wire.Members(c.Raw, c.Responses) {
		name, _ := wire.Unquote(c.Bytes(key))
		if h, ok := p.asked[name]; ok {
			answers[h.ask] = bytes.Clone(c.Bytes(value))
			delete(p.asked, name)
		}
	}
	p.waiting = f
	reply, err := p.takeReplyLocked()
	// What was left without an answer is asked for again.
	for key, h := range p.asked {
		p.fresh = append(p.fresh, h)
		delete(p.asked, key)
	}
	p.mu.Unlock()
	for a, answer := range answers {
		a.Answer(answer)
	}
	if reply != nil || err != nil {
		p.done(scanned(reply), err)
		return
	}
	p.tell()
	if f.over.Load() && p.current() == f { // it was given up before it could be found here
		p.end(nobodyAnswers, nil, wire.Span{})
	}
}

// done takes the server's reply: to the request that waits, or kept for the retry that will.
func (p *parked) done(m *wire.Message, err error) {
	p.mu.Lock()
	f := p.waiting
	var open []held
	if f == nil {
		if m == nil {
			open = p.openLocked()
		}
		switch srv := p.first.server.Load(); {
		case m == nil || p.over:
			p.err = err
		case srv.Account().Charge(len(m.Raw)):
			p.reply = bytes.Clone(m.Raw)
		default:
			p.err = fmt.Errorf("server %q of toolbox %q has carried the call out, but its reply of %d bytes came while the client was"+
				" being asked, and there was no room to keep it", srv.Name, srv.Toolbox, len(m.Raw))
		}
		p.mu.Unlock()
		refuse(open, nobodyAnswers)
		return
	}
	p.waiting = nil // it is answered by nobody else
	open, _ = p.dropLocked()
	p.mu.Unlock()
	refuse(open, nobodyAnswers)
	f.deliver(m, err)
}

// expire gives up waiting for the client, unless the client waits for the server or was asked again since.
func (p *parked) expire() {
	var open []held
	first := false
	p.mu.Lock()
	if p.waiting == nil && !time.Now().Before(p.until) {
		open, first = p.dropLocked()
	}
	p.mu.Unlock()
	p.leave(open, first, "the client did not answer in time", nil, wire.Span{})
}

// end gives the server's call up, and refuses what the server asked for it. raw is the client's notification, if it sent
// one, and id the span of the id in it.
func (p *parked) end(why string, raw []byte, id wire.Span) {
	p.mu.Lock()
	open, first := p.dropLocked()
	p.mu.Unlock()
	p.leave(open, first, why, raw, id)
}

// leave refuses what the server asked, and gives its call up if first says that nobody did so before.
func (p *parked) leave(open []held, first bool, why string, raw []byte, id wire.Span) {
	refuse(open, why)
	if first && p.first.parked.Load() == p {
		p.first.call.Cancel(raw, id)
	}
}

// dropLocked forgets the parked request; first says that this call did. What the server asked is to be refused.
func (p *parked) dropLocked() (open []held, first bool) {
	over := p.over
	p.over = true
	_, _ = p.takeReplyLocked()
	if over {
		return nil, false
	}
	p.expiry.Stop()
	p.states.drop(p.number)
	return p.openLocked(), true
}

// openLocked takes what the server asked and nobody has answered. p.mu must be held.
func (p *parked) openLocked() []held {
	open := slices.AppendSeq(p.fresh, maps.Values(p.asked))
	p.fresh = nil
	clear(p.asked)
	return open
}

// takeReplyLocked takes what came while nobody waited. p.mu must be held.
func (p *parked) takeReplyLocked() ([]byte, error) {
	reply, err := p.reply, p.err
	p.reply, p.err = nil, nil
	if reply != nil {
		p.first.server.Load().Account().Credit(len(reply))
	}
	return reply, err
}
