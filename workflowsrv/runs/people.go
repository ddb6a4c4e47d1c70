package runs

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/store"
)

// What a person answers where a step is to be agreed to.
const (
	yes = "yes"
	no  = "no"
)

const (
	// codeLife is how long a one-time code may be used, and maxWrong how often a wrong one may be tried.
	codeLife = 15 * time.Minute
	maxWrong = 5
)

// goOn carries the run on until it is somebody else's turn, and keeps what was noted.
func (t *turn) goOn(ctx context.Context) (Answer, error) {
	if t.next.IsComplete {
		if !t.r.Status.Over() {
			t.note(Event{Kind: Finished})
		}
		if err := t.flush(ctx, 0, nil); err != nil {
			return Answer{}, err
		}
		return t.over(), nil
	}
	if t.next.Step == nil {
		if err := t.flush(ctx, 0, nil); err != nil {
			return Answer{}, err
		}
		text := strings.Replace(t.next.Prompt, "Then call workflow_next again.", "", 1)
		return t.answer(stateMissing, fmt.Sprintf("%s: %s\nSend them with workflow_next {\"run\":%q,\"context\":{…}}.", t.r.ID, strings.TrimSpace(text), t.r.ID)), nil
	}
	if t.next.RequiresConfirmation && !t.agreed() {
		return t.askPerson(ctx)
	}
	if err := t.flush(ctx, 0, nil); err != nil {
		return Answer{}, err
	}
	return t.answer(stateStep, ""), nil
}

// agreed reports whether a person has agreed to the step where the run is.
func (t *turn) agreed() bool { return t.r.answers[t.gate()].Answer == yes }

// askPerson asks the person about the step where the run is.
func (t *turn) askPerson(ctx context.Context) (Answer, error) {
	at := t.gate()
	asked, ok := t.r.asked[at]
	if !ok {
		asked = t.at(Asked)
		asked.Text, asked.Hash = t.question(), store.NewID()
		t.note(asked)
	}
	if err := t.flush(ctx, 0, nil); err != nil {
		return Answer{}, err
	}
	q := Question{Message: asked.Text, Form: t.form(), State: t.r.ID + "/" + asked.Hash}
	if reply := t.who.Reply; reply != nil && reply.State == q.State {
		t.who.Reply = nil
		return t.replied(ctx, *reply)
	}
	switch {
	case t.who.Ask != nil:
		reply, err := t.who.Ask(ctx, q)
		if err != nil {
			t.warn("the person could not be asked at this client: %v", err)
			return t.waiting(), nil
		}
		return t.replied(ctx, reply)
	case t.who.Asks:
		return Answer{Question: &q}, nil
	}
	return t.waiting(), nil
}

// reply goes on with the run whose question a person has replied to: the call was made again with that, whatever call it is.
// It returns nil for a call that brings no reply.
func (e *Engine) reply(ctx context.Context, who Caller) (*Answer, error) {
	if who.Reply == nil {
		return nil, nil
	}
	run, _, _ := strings.Cut(who.Reply.State, "/")
	t, err := e.open(ctx, who, run)
	if err != nil {
		return nil, err
	}
	defer t.done()
	if t.r.Status.Over() {
		a := t.over()
		return &a, nil
	}
	a, err := t.goOn(ctx)
	return &a, err
}

// question is what the person is asked about the step where the run is.
func (t *turn) question() string {
	text := fmt.Sprintf("The workflow %s comes to the step %q. Shall it go on?", t.r.Workflow, t.next.Step.Title)
	if t.r.Goal != "" {
		text = fmt.Sprintf("The workflow %s, which runs for %q, comes to the step %q. Shall it go on?", t.r.Workflow, short(t.r.Goal), t.next.Step.Title)
	}
	if word := brief(t.r.last); word != "" {
		text += "\nThe step before it ended with: " + word
	}
	return text
}

// form is what the person fills in.
func (t *turn) form() []byte {
	return []byte(`{"type":"object","properties":{"agree":{"type":"boolean","title":"Go on with this step?"},` +
		`"reason":{"type":"string","title":"If not, why?"}},"required":["agree"]}`)
}

// replied takes what the person replied at the client.
func (t *turn) replied(ctx context.Context, reply Reply) (Answer, error) {
	var form struct {
		Agree  bool   `json:"agree"`
		Reason string `json:"reason"`
	}
	switch reply.Action {
	case "accept":
		if err := json.Unmarshal(reply.Form, &form); err != nil {
			t.warn("the client's reply could not be read")
			return t.waiting(), nil
		}
	case "decline":
	default:
		return t.waiting(), nil
	}
	answer := no
	if form.Agree {
		answer = yes
	}
	t.decide(byPerson+"elicitation at "+strings.TrimPrefix(t.who.agent(), byAgent), answer, form.Reason)
	if err := t.settle(ctx); err != nil {
		return Answer{}, err
	}
	if answer == no {
		if err := t.flush(ctx, 0, nil); err != nil {
			return Answer{}, err
		}
		return t.waiting(), nil
	}
	return t.goOn(ctx)
}

// decide notes what a person has answered about the step where the run is.
func (t *turn) decide(by, answer, reason string) {
	e := t.at(Answered)
	e.By, e.Answer, e.Text = by, answer, strings.TrimSpace(reason)
	t.note(e)
}

// waiting says that a person has to answer, and how.
func (t *turn) waiting() Answer {
	var b strings.Builder
	if last := t.r.answers[t.gate()]; last.Answer == no {
		fmt.Fprintf(&b, "The person did not agree to the step %q of %s%s. Do not go on with it.\n\n", t.next.Step.Title, t.r.ID, because(last.Text))
	}
	fmt.Fprintf(&b, "%s waits for a person before the step %q. You cannot answer for the person. Tell the person, who answers at a terminal with\n"+
		"  workbench runs answer %s\n"+
		"or has workbench runs answer %s --code print a one-time code, and gives you that: workflow_next {\"run\":%q,\"code\":\"…\"}.\n"+
		"Then call workflow_next {\"run\":%q}.", t.r.ID, t.next.Step.Title, t.r.ID, t.r.ID, t.r.ID, t.r.ID)
	return t.answer(statePerson, b.String())
}

// useCode takes a one-time code for what the person has answered with it.
func (t *turn) useCode(ctx context.Context, code string) error {
	if t.next.Step == nil {
		return &Error{fmt.Sprintf("run %s waits for no person", t.r.ID), "call workflow_next without a code"}
	}
	at := t.gate()
	coded, ok := t.r.codes[at]
	switch {
	case !ok:
		return &Error{fmt.Sprintf("no code was made for the step %q of run %s", t.next.Step.ID, t.r.ID),
			"only a person can make one: workbench runs answer " + t.r.ID + " --code, at a terminal"}
	case t.r.wrong[at] >= maxWrong:
		return &Error{fmt.Sprintf("the code for the step %q does not count any more: %d wrong ones were tried", t.next.Step.ID, maxWrong),
			"ask the person for another one"}
	case time.Since(coded.At) > codeLife:
		return &Error{fmt.Sprintf("the code for the step %q has expired after %v", t.next.Step.ID, codeLife), "ask the person for another one"}
	}
	if subtle.ConstantTimeCompare([]byte(coded.Hash), []byte(hashCode(t.r.ID, at, code))) != 1 {
		e := t.at(Refused)
		e.By, e.Text = t.who.agent(), "a wrong code"
		t.note(e)
		if err := t.flush(ctx, 0, nil); err != nil {
			return err
		}
		return &Error{fmt.Sprintf("that is not the code; %d more may be tried", maxWrong-t.r.wrong[at]), "ask the person for it"}
	}
	t.decide(byPerson+"code", coded.Answer, coded.Text)
	return t.settle(ctx)
}

// hashCode is what is kept of a code.
func hashCode(run, at, code string) string {
	sum := sha256.Sum256([]byte(run + " " + at + " " + strings.TrimSpace(code)))
	return hex.EncodeToString(sum[:])
}

// An Opinion is what a person says of a run that waits.
type Opinion struct {
	Run    string
	Answer string // "" agrees
	Reason string
	How    string // such as terminal
	// Code asks for a one-time code that stands for the answer.
	Code bool
}

// ErrNoQuestion says that a run waits for no person.
var ErrNoQuestion = errors.New("the run waits for no person")

// Pending returns what a person is asked about a run.
func (e *Engine) Pending(ctx context.Context, principal, run string) (question string, err error) {
	t, err := e.open(ctx, Caller{Principal: principal}, run)
	if err != nil {
		return "", err
	}
	defer t.done()
	if !t.waits() {
		return "", ErrNoQuestion
	}
	return t.question(), nil
}

// waits reports whether the run waits for a person.
func (t *turn) waits() bool {
	return !t.r.Status.Over() && t.next.Step != nil && t.next.RequiresConfirmation && !t.agreed()
}

// Say takes what a person says of a run that waits. It must be called for a person only. The code is "" unless one was
// asked for.
func (e *Engine) Say(ctx context.Context, principal string, o Opinion) (code string, err error) {
	t, err := e.open(ctx, Caller{Principal: principal}, o.Run)
	if err != nil {
		return "", err
	}
	defer t.done()
	if !t.waits() {
		return "", ErrNoQuestion
	}
	answer := strings.ToLower(strings.TrimSpace(o.Answer))
	switch answer {
	case "", "y":
		answer = yes
	case "n":
		answer = no
	}
	if answer != yes && answer != no {
		return "", &Error{fmt.Sprintf("the answer to this question is yes or no, not %q", short(o.Answer)), "say one of them"}
	}
	if !o.Code {
		t.decide(byPerson+o.How, answer, o.Reason)
		return "", t.flush(ctx, 0, nil)
	}
	number, err := rand.Int(rand.Reader, big.NewInt(100_000_000))
	if err != nil {
		return "", err
	}
	code = fmt.Sprintf("%08d", number)
	made := t.at(Coded)
	made.By, made.Answer, made.Text, made.Hash = byPerson+o.How, answer, o.Reason, hashCode(t.r.ID, t.gate(), code)
	t.note(made)
	return code, t.flush(ctx, 0, nil)
}
