package proxy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/approval"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/trail"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// toldEvery is how often a client is told that its call waits for a person.
const toldEvery = 5 * time.Second

var errLeft = errors.New("the client disconnected before anybody approved the call, so it was not made")

// A consent is the question to a modern client whether a call is to be made. The client answers it by making its
// request again; meanwhile the call may be answered elsewhere.
type consent struct {
	*approval.Waiting
	digest uint64 // of what was requested
	expiry *time.Timer
}

// approvals have persons agree to calls before they are made.
type approvals struct {
	register *approval.Register
	log      zerolog.Logger
	tell     func(trail.Event) // nil tells nobody
	user     string
	session  string // its number
	profile  *profile
	states   *states
	asks     *asks
	line     *line
	begin    func(func(context.Context)) bool
	leaving  <-chan struct{} // closed when nothing more comes from the client
}

// approve makes a call after a person has agreed to it. c is to be its own, and the flight, too; asked is what the
// person is asked about.
func (as *approvals) approve(f *flight, c *call, asked approval.Call, made func(*call)) {
	if f.ctx == nil {
		f.fail(errors.New("the configuration has just been changed: make the call again"))
		return
	}
	if c.terms.AsksInResults() && c.State.Present() && as.consented(f, c, made) {
		return
	}
	if !f.hold(2 * len(c.Raw)) {
		f.fail(errMuch)
		return
	}
	asked.Client = as.profile.known().name
	w := as.register.Add(asked)
	if w == nil {
		f.fail(approval.ErrMany)
		return
	}
	as.log.Info().Str(logkey.Toolbox, w.Toolbox).Str(logkey.Server, w.Server).Str(logkey.Tool, w.Tool).
		Str(logkey.Detail, w.ID).Msg("a call waits for a person to agree")
	if c.terms.AsksInResults() && canFill(c.terms.capabilities) {
		as.askConsent(f, c, w)
		return
	}
	if !as.begin(func(context.Context) { as.await(f, c, w, made) }) {
		as.register.Remove(w.ID)
	}
}

// await makes the call once it is agreed to, and tells the client meanwhile that it waits.
func (as *approvals) await(f *flight, c *call, w *approval.Waiting, made func(*call)) {
	defer as.register.Remove(w.ID)
	if !c.terms.AsksInResults() && as.profile.known().fillsForms() {
		k := as.question(f, w)
		defer func() {
			if as.asks.forget(k) {
				as.line.emit(k.carrier, k.withdrawal("answered elsewhere"))
			}
		}()
	}
	tick, late := time.NewTicker(toldEvery), time.NewTimer(approval.Patience)
	defer tick.Stop()
	defer late.Stop()
	for {
		tellWaiting(f, c, w)
		select {
		case <-w.Done:
		case <-late.C:
			if as.register.Remove(w.ID) { // else it was answered at this very moment
				as.trail(f, w, "late")
				f.fail(&approval.Refused{Call: w.Call, Late: true})
				return
			}
		case <-as.leaving:
			if as.register.Remove(w.ID) {
				f.fail(errLeft)
				return
			}
		case <-f.ctx.Done():
			return
		case <-tick.C:
			continue
		}
		as.conclude(f, c, w, made)
		return
	}
}

// trail notes what became of the question whether a call is to be made.
func (as *approvals) trail(f *flight, w *approval.Waiting, answer string) {
	if as.tell != nil {
		as.tell(trail.Event{Event: trail.Approval, User: as.user, Client: w.Client, Session: as.session, Address: f.record.Address,
			Call: w.ID, Toolbox: w.Toolbox, Server: w.Server, Tool: w.Tool, Outcome: answer})
	}
}

// conclude does what was answered.
func (as *approvals) conclude(f *flight, c *call, w *approval.Waiting, made func(*call)) {
	as.trail(f, w, map[bool]string{true: "agreed", false: "refused"}[w.Agreed()])
	switch {
	case !w.Agreed():
		f.fail(&approval.Refused{Call: w.Call})
	case !f.over.Load():
		if c.terms.AsksInResults() {
			f.granted = as.states.digest(c)
		}
		made(c)
	}
}

// tellWaiting sends progress.
func tellWaiting(f *flight, c *call, w *approval.Waiting) {
	if !c.Token.Present() || f.out.Behind() {
		return
	}
	left := time.Until(w.Until).Round(time.Second)
	said := fmt.Sprintf("waiting %s for the user to agree to this call, here or by \"workbench approve\"", left)
	f.patience.tell(f.out, c.Bytes(c.Token), said)
}

// questionParams are those of elicitation/create.
func questionParams(w *approval.Waiting) []byte {
	msg := fmt.Sprintf("Workbench asks: the model wants to call a tool that needs your consent.\n\n%s\n\nShould the call be made?", w.Text())
	return formParams(msg, "decision", [2]string{"run", "refuse"}, [2]string{"Make the call", "Refuse it"})
}

// question puts the question to a legacy client. A client that cannot ask after all leaves it to others.
func (as *approvals) question(f *flight, w *approval.Waiting) *ask {
	k := &ask{carrier: &f.request, answer: func(m *wire.Message) {
		if m.Kind == wire.Result {
			as.register.Answer(w.ID, chosen(m.Raw, m.Result, "decision", "run"))
		}
	}}
	_ = as.asks.question(f.out, k, nil, "elicitation/create", questionParams(w))
	return k
}

// askConsent answers a modern client with the question.
func (as *approvals) askConsent(f *flight, c *call, w *approval.Waiting) {
	k := &consent{Waiting: w, digest: as.states.digest(c)}
	k.expiry = time.AfterFunc(approval.Patience, func() { as.forget(func(other *consent) bool { return other == k }) })
	number, ended := as.states.add(k) // complete, since it can be found from here on
	if ended {
		k.expiry.Stop()
		as.register.Remove(w.ID)
	}
	f.reply(as.consentResult(number, k))
}

func (as *approvals) consentResult(number uint64, k *consent) []byte {
	return as.states.inputRequired("approve", questionParams(k.Waiting), number, k.digest, k.Until)
}

// drop forgets a question; it reports false if that was done before.
func (as *approvals) drop(number uint64) bool {
	k, ok := as.states.drop(number).(*consent)
	if ok {
		k.expiry.Stop()
		as.register.Remove(k.ID)
	}
	return ok
}

// forget forgets the questions to a modern client that are chosen.
func (as *approvals) forget(chosen func(*consent) bool) {
	for number, what := range as.states.all() {
		if k, ok := what.(*consent); ok && chosen(k) {
			as.drop(number)
		}
	}
}

// close forgets all of them.
func (as *approvals) close() { as.forget(func(*consent) bool { return true }) }

// consented takes the retry of a modern client. It reports false for a request that is to be asked about, although it
// has a state: one of its server's.
func (as *approvals) consented(f *flight, c *call, made func(*call)) bool {
	state, _ := wire.Unquote(c.Bytes(c.State))
	digest := as.states.digest(c)
	number, sealed, err := as.states.open(state)
	what := as.states.find(number)
	k, _ := what.(*consent)
	_, parked := what.(*parked)
	switch {
	case errors.Is(err, errForeignState) && as.states.granted(digest), err == nil && parked: // what was agreed to goes on
		f.granted = digest
		made(c)
		return true
	case errors.Is(err, errForeignState):
		return false
	case err != nil || k == nil || k.digest != digest || sealed != digest:
		f.fail(&wire.Error{Code: wire.CodeInvalidParams, Message: "params.requestState does not belong to this request, or nobody has answered in time: make the request again without it"})
		return true
	}
	if answer, err := wire.FindPath(c.Raw, c.Responses, "approve"); err == nil && answer.Present() {
		as.register.Answer(k.ID, chosen(c.Raw, answer, "decision", "run"))
	}
	select {
	case <-k.Done:
	default: // it asked for nothing else than whether there is an answer
		f.reply(as.consentResult(number, k))
		return true
	}
	later, err := c.withoutAnswers()
	switch {
	case !as.drop(number): // by the same retry, which came twice at once
		f.fail(errUsed)
	case err != nil:
		f.fail(err)
	default:
		as.conclude(f, later, k.Waiting, made)
	}
	return true
}
