package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mcp-workbench/workbench/internal/approval"
	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/trail"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// toldEvery is how often a client is told that its call waits for a person.
const toldEvery = 5 * time.Second

var errLeft = errors.New("the client ended before anybody agreed to the call, and it was not made")

// A consent is the question to a modern client whether a call is to be made. The client answers it by making its request
// again; meanwhile the call may be answered elsewhere.
type consent struct {
	*approval.Waiting
	digest uint64 // of what was requested
	expiry *time.Timer
}

// useAgain makes the call that stands in the arguments of workbench_use_tool, which may have moved.
func useAgain(f *flight, c *call, to route) {
	w, err := f.s.wanted(c)
	if err != nil {
		f.fail(err)
		return
	}
	f.useNow(c, w, to)
}

// approve makes a call after a person has agreed to it. c is to be its own, and the flight, too; arguments are those of the tool.
func (f *flight) approve(c *call, to route, arguments []byte, made func(*flight, *call, route)) {
	if f.ctx == nil {
		f.fail(errors.New("the configuration has just been changed: make the call again"))
		return
	}
	if c.modern != nil && c.State.Present() && f.consented(c, to, made) {
		return
	}
	if !f.hold(2 * len(c.Raw)) {
		f.fail(errMuch)
		return
	}
	if len(arguments) == 0 {
		arguments = []byte("{}")
	}
	asked := approval.NewCall(to.server.Toolbox, to.server.Name, to.key, arguments)
	asked.Client = f.s.clientName()
	w := f.s.p.opts.Approvals.Add(asked)
	if w == nil {
		f.fail(approval.ErrMany)
		return
	}
	f.s.p.opts.Logger.Info().Str(logkey.Toolbox, w.Toolbox).Str(logkey.Server, w.Server).Str(logkey.Tool, w.Tool).
		Str(logkey.Detail, w.ID).Msg("a call waits for a person to agree")
	if c.modern != nil && canFill(c.modern.capabilities) {
		f.s.askConsent(f, c, w)
		return
	}
	f.s.begin(func(context.Context) { f.await(c, to, w, made) })
}

// await makes the call once it is agreed to, and tells the client meanwhile that it waits.
func (f *flight) await(c *call, to route, w *approval.Waiting, made func(*flight, *call, route)) {
	defer f.s.p.opts.Approvals.Remove(w.ID)
	if c.modern == nil && f.s.canFill() {
		defer f.s.withdrawQuestion(f.question(w))
	}
	tick, late := time.NewTicker(toldEvery), time.NewTimer(approval.Patience)
	defer tick.Stop()
	defer late.Stop()
	for {
		f.tellWaiting(c, w)
		select {
		case <-w.Done:
			f.conclude(c, to, w, made)
			return
		case <-late.C:
			f.trail(w, "late")
			f.fail(&approval.Refused{Call: w.Call, Late: true})
			return
		case <-f.s.leaving:
			f.fail(errLeft)
			return
		case <-f.ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// trail notes what became of the question whether a call is to be made.
func (f *flight) trail(w *approval.Waiting, answer string) {
	if tell := f.s.p.root.opts.Trail; tell != nil {
		tell(trail.Event{Event: trail.Approval, User: f.s.who.Name, Client: w.Client, Session: f.s.number, Address: f.record.Address,
			Call: w.ID, Toolbox: w.Toolbox, Server: w.Server, Tool: w.Tool, Outcome: answer})
	}
}

// conclude does what was answered.
func (f *flight) conclude(c *call, to route, w *approval.Waiting, made func(*flight, *call, route)) {
	f.trail(w, map[bool]string{true: "agreed", false: "refused"}[w.Agreed()])
	switch {
	case !w.Agreed():
		f.fail(&approval.Refused{Call: w.Call})
	case !f.over.Load():
		if c.modern != nil {
			f.granted = f.s.p.seal.digest(c)
		}
		made(f, c, to)
	}
}

// tellWaiting sends progress: its number is the seconds that are left, below zero, so that the server's own, which comes
// after it, is more.
func (f *flight) tellWaiting(c *call, w *approval.Waiting) {
	if !c.Token.Present() || f.out.Behind() {
		return
	}
	msg := append([]byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`), c.Bytes(c.Token)...)
	left := time.Until(w.Until).Round(time.Second)
	msg = fmt.Appendf(msg, `,"progress":%g,"message":`, -left.Seconds())
	msg = wire.AppendQuote(msg, fmt.Sprintf("waiting %s for the user to agree to this call, here or by \"workbench approve\"", left))
	f.out.Message(append(msg, "}}"...))
}

// questionParams are those of elicitation/create.
func questionParams(w *approval.Waiting) []byte {
	msg := fmt.Sprintf("Workbench asks: the model wants to call a tool that is not to be used without your consent.\n\n%s\n\nIs the call to be made?", w.Text())
	return formParams(msg, "decision", [2]string{"run", "refuse"}, [2]string{"Make the call", "Refuse it"})
}

// formParams ask for one of two things. There is no default, so that a client which answers by itself chooses neither.
func formParams(message, key string, values, titles [2]string) []byte {
	params, err := json.Marshal(map[string]any{
		"message": message,
		"requestedSchema": map[string]any{
			"type":       "object",
			"properties": map[string]any{key: map[string]any{"type": "string", "title": "Decision", "enum": values, "enumNames": titles}},
			"required":   []string{key},
		},
	})
	if err != nil {
		panic("a question of strings cannot be encoded: " + err.Error())
	}
	return params
}

// chosen reads the result of such a question: whether it was answered at all, and by that value.
func chosen(raw []byte, result wire.Span, key, value string) bool {
	action, _ := wire.FindPath(raw, result, "action")
	got, err := wire.FindPath(raw, result, "content", key)
	said, _ := wire.Unquote(raw[action.Start:action.End])
	text, _ := wire.Unquote(raw[got.Start:got.End])
	return err == nil && said == "accept" && text == value
}

// question puts the question to a legacy client. A client that cannot ask after all leaves it to others.
func (f *flight) question(w *approval.Waiting) *ask {
	register := f.s.p.opts.Approvals
	k := &ask{carrier: f, answer: func(m *wire.Message) {
		if m.Kind == wire.Result {
			register.Answer(w.ID, chosen(m.Raw, m.Result, "decision", "run"))
		}
	}}
	f.s.enter(k)
	f.out.Message(eras.AppendQuestionToLegacy(nil, []byte(k.id), "elicitation/create", questionParams(w)))
	return k
}

// withdrawQuestion takes a question of ours back that needs no answer any more.
func (s *Session) withdrawQuestion(k *ask) {
	s.mu.Lock()
	_, open := s.asks[k.id]
	delete(s.asks, k.id)
	closed := s.closed
	s.mu.Unlock()
	if open && !closed {
		s.emit(k.carrier, fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":"answered elsewhere"}}`, k.id))
	}
}

// askConsent answers a modern client with the question.
func (s *Session) askConsent(f *flight, c *call, w *approval.Waiting) {
	k := &consent{Waiting: w, digest: s.p.seal.digest(c)}
	s.mu.Lock()
	s.lastPark++
	number := s.lastPark
	s.consents[number] = k
	s.mu.Unlock()
	k.expiry = time.AfterFunc(approval.Patience, func() { s.dropConsent(number) })
	f.reply(s.consentResult(number, k))
}

func (s *Session) consentResult(number uint64, k *consent) []byte {
	result := append([]byte(`{"resultType":"input_required","inputRequests":{"approve":{"method":"elicitation/create","params":`), questionParams(k.Waiting)...)
	result = append(result, `}},"requestState":`...)
	return append(wire.AppendQuote(result, s.p.seal.close(number, k.digest, k.Until)), '}')
}

// dropConsent forgets a question.
func (s *Session) dropConsent(number uint64) {
	s.mu.Lock()
	k := s.consents[number]
	delete(s.consents, number)
	s.mu.Unlock()
	if k != nil {
		k.expiry.Stop()
		s.p.opts.Approvals.Remove(k.ID)
	}
}

// consented takes the retry of a modern client. It reports false for a request that is to be asked about, although it has a
// state: one of its server's.
func (f *flight) consented(c *call, to route, made func(*flight, *call, route)) bool {
	s := f.s
	state, _ := wire.Unquote(c.Bytes(c.State))
	digest := s.p.seal.digest(c)
	number, sealed, err := s.p.seal.open(state)
	s.mu.Lock()
	k, parked := s.consents[number], s.parks[number]
	granted := errors.Is(err, errForeignState) && s.grants[digest] > 0
	if granted {
		if s.grants[digest]--; s.grants[digest] == 0 {
			delete(s.grants, digest)
		}
	}
	s.mu.Unlock()
	switch {
	case granted, err == nil && parked != nil: // what was agreed to goes on
		f.granted = digest
		made(f, c, to)
		return true
	case errors.Is(err, errForeignState):
		return false
	case err != nil || k == nil || k.digest != digest || sealed != digest:
		f.fail(&wire.Error{Code: wire.CodeInvalidParams, Message: "params.requestState does not belong to this request, or nobody has answered in time: make the request anew without it"})
		return true
	}
	if answer, err := wire.FindPath(c.Raw, c.Responses, "approve"); err == nil && answer.Present() {
		s.p.opts.Approvals.Answer(k.ID, chosen(c.Raw, answer, "decision", "run"))
	}
	select {
	case <-k.Done:
	default: // it asked for nothing else than whether there is an answer
		f.reply(s.consentResult(number, k))
		return true
	}
	s.dropConsent(number)
	later, err := s.withoutAnswers(c)
	if err != nil {
		f.fail(err)
		return true
	}
	f.conclude(later, to, k.Waiting, made)
	return true
}

// withoutAnswers gives a request as it was before it was made again: its state is ours, and means nothing to the server.
func (s *Session) withoutAnswers(c *call) (*call, error) {
	m := new(wire.Message)
	if err := wire.Scan(wire.Splice(nil, c.Raw, eras.WithoutAnswers(c.Raw, c.Params)...), m); err != nil {
		return nil, err
	}
	return s.newCall(m, c.out, c.scope)
}

// grant notes that a server wants more input for a call of a modern client that was agreed to: the next request with the
// server's state needs no consent.
func (f *flight) grant(m *wire.Message) {
	if m.Kind != wire.Result {
		return
	}
	kind, err := wire.FindPath(m.Raw, m.Result, "resultType")
	if text, _ := wire.Unquote(m.Bytes(kind)); err != nil || text != "input_required" {
		return
	}
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	if len(f.s.grants) < maxHeld {
		f.s.grants[f.granted]++
	}
}

// canFill reports whether a client shows forms to its user, by its capabilities.
func canFill(capabilities []byte) bool {
	whole := wire.Span{Start: 0, End: len(capabilities)}
	var modes [2]wire.Span
	asks, err := wire.FindPath(capabilities, whole, "elicitation")
	if err != nil || !asks.Present() || capabilities[asks.Start] != '{' ||
		wire.Find(capabilities, asks, []string{"form", "url"}, modes[:]) != nil {
		return false
	}
	return modes[0].Present() || !modes[1].Present() // neither means forms
}

// canFill reports whether the legacy client shows forms to its user.
func (s *Session) canFill() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client != nil && s.legacy && len(s.client.Capabilities) > 0 && canFill(s.client.Capabilities)
}

// clientName is what the client calls itself.
func (s *Session) clientName() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.label
}

// nameIn is the name in what a client says of itself.
func nameIn(info []byte) string {
	var said struct{ Name foreign.Name }
	_ = json.Unmarshal(info, &said) // a client that does not say has no name
	return said.Name.String()
}

// endConsents forgets all questions of a session that ends.
func (s *Session) endConsents() {
	s.mu.Lock()
	var all []uint64
	for number := range s.consents {
		all = append(all, number)
	}
	s.mu.Unlock()
	for _, number := range all {
		s.dropConsent(number)
	}
}

// callApproved makes a tools/call that a person is asked about.
func (s *Session) callApproved(c *call, to route) {
	if f := s.own(c); f != nil {
		later := c.own()
		f.callAs(later, to)
	}
}
