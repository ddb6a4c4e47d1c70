package runs

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

const (
	// codeLife is how long a one-time code may be used, and maxWrong how often a wrong one may be tried.
	codeLife = 15 * time.Minute
	maxWrong = 5
)

// inquiry is what a person is asked at a turn.
type inquiry struct {
	*turn
	why asking
}

// asks says what a person is asked before the run goes on.
func (t *turn) asks(ctx context.Context) asking {
	if t.r.Status.Over() {
		return askNothing
	}
	if _, ok := t.r.proposed(); ok {
		return askRebase
	}
	if t.next.Step == nil {
		return askNothing
	}
	act := t.next.Step.Act
	switch {
	case t.unknown() && !t.repeatable(ctx):
		return askUnknown
	case t.lack != nil:
		return askNothing // Nobody can agree to a call that is not known yet.
	case act != nil && act.Kind == definition.ActAsk:
		return askAnswer
	case act != nil && act.Kind == definition.ActWait && t.late():
		return askLate
	case (t.next.RequiresConfirmation || t.unsought(ctx)) && !t.agreed():
		return askAgree
	}
	return askNothing
}

// goOn carries the run on until it is somebody else's turn, and keeps what was noted.
func (t *turn) goOn(ctx context.Context) (Answer, error) {
	t.withdraw()
	for {
		if _, ok := t.r.proposed(); ok {
			return inquiry{t, askRebase}.ask(ctx)
		}
		if t.stuck != nil {
			return t.stays(ctx, t.stuck)
		}
		if t.next.IsComplete {
			if !t.r.Status.Over() {
				t.note(Event{Kind: Finished})
			}
			return t.over(ctx)
		}
		if t.next.Step == nil {
			text := strings.Replace(t.next.Prompt, "Then call workflow_next again.", "", 1)
			return t.answer(ctx, stateMissing, fmt.Sprintf("%s: %s\nSend them with workflow_next {\"run\":%q,\"context\":{…}}.", t.r.ID, strings.TrimSpace(text), t.r.ID))
		}
		if why := t.asks(ctx); why != askNothing {
			return inquiry{t, why}.ask(ctx)
		}
		if len(t.next.Step.Delegations) > 0 {
			if a, err := t.join(ctx); a != nil || err != nil {
				return value(a), err
			}
		}
		if t.next.Step.Act == nil {
			return t.answer(ctx, stateStep, "")
		}
		if a, err := t.act(ctx); a != nil || err != nil {
			return value(a), err
		}
	}
}

// ask asks the person about the step where the run is.
func (q inquiry) ask(ctx context.Context) (Answer, error) {
	asked, ok := q.asked()
	if !ok {
		asked = q.about(Asked)
		asked.Text, asked.Hash = q.question(ctx, q.why), store.NewID()
		q.note(asked)
	}
	if err := q.flush(ctx, 0); err != nil {
		return Answer{}, err
	}
	question := q.put(q.why, asked)
	if reply := q.who.Reply; reply != nil && reply.State == question.State {
		q.who.Reply = nil
		return q.replied(ctx, *reply)
	}
	switch {
	case q.who.Ask != nil:
		reply, err := q.who.Ask(ctx, question)
		if err != nil {
			q.warn("the person could not be asked at this client: %v", err)
			return q.waiting(ctx)
		}
		return q.replied(ctx, reply)
	case q.who.Asks:
		return Answer{Question: &question}, nil
	}
	return q.waiting(ctx)
}

// Asked returns what has become of a question by its State: the same question as long as it waits, and then what the
// call that it came of would have given. A reply that comes for it counts. The caller must not be one who can be asked
// on the spot.
func (e *Engine) Asked(ctx context.Context, who Caller, state string, reply *Reply) (a Answer, asked time.Time, err error) {
	run, hash, _ := strings.Cut(state, "/")
	t, err := e.open(ctx, who, run)
	if err != nil {
		return Answer{}, asked, err
	}
	defer t.done()
	i := slices.IndexFunc(t.r.Events, func(e Event) bool { return e.Kind == Asked && hash != "" && e.Hash == hash })
	if i < 0 {
		return Answer{}, asked, &Error{fmt.Sprintf("run %s has no such question", t.r.ID), "call workflow_next with the run"}
	}
	asked = t.r.Events[i].At
	why := t.asks(ctx)
	switch {
	case t.r.Status.Over():
		a, err = t.over(ctx)
	case why == askNothing || hashOf(t.asked()) != hash:
		a, err = t.goOn(ctx)
	case reply != nil:
		a, err = inquiry{t, why}.replied(ctx, *reply)
	default:
		q := t.put(why, t.r.Events[i])
		a.Question = &q
	}
	return a, asked, err
}

// reply goes on with the run whose question a person has replied to: the call was made again with that, whatever call
// it is. It returns nil for a call that brings no reply.
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
		return some(t.over(ctx))
	}
	return some(t.goOn(ctx))
}

// replied takes what the person replied at the client.
func (q inquiry) replied(ctx context.Context, reply Reply) (Answer, error) {
	var form struct {
		Agree  bool   `json:"agree"`
		Answer string `json:"answer"`
		Reason string `json:"reason"`
	}
	plain := q.why.plain()
	switch reply.Action {
	case "accept":
		if err := json.Unmarshal(reply.Form, &form); err != nil {
			q.warn("the client's reply could not be read")
			return q.dismissed(ctx)
		}
	case "decline":
		if !plain {
			return q.dismissed(ctx)
		}
	default:
		return q.dismissed(ctx)
	}
	answer := form.Answer
	if plain {
		answer = no
		if form.Agree {
			answer = yes
		}
	}
	answer, err := q.fits(q.why, answer)
	if err != nil {
		q.warn("%v", err)
		return q.dismissed(ctx)
	}
	if err := q.decide(ctx, q.who.person(), answer, form.Reason); err != nil {
		return Answer{}, err
	}
	q.settle(ctx)
	if answer == no && q.why == askAgree {
		return q.waiting(ctx)
	}
	return q.goOn(ctx)
}

// dismissed notes that the person gave no answer to a question, which is another one when it is asked again.
func (q inquiry) dismissed(ctx context.Context) (Answer, error) {
	text := q.howToAnswer()
	e := q.about(Dismissed)
	e.By = q.who.person()
	q.note(e)
	if q.why == askRebase {
		q.warn("the person did not answer about the changed file; the run goes on by its own definition")
		return q.goOn(ctx)
	}
	return q.answer(ctx, statePerson, text)
}

// decide notes what a person has answered about the step where the run is, and what follows for the step itself.
func (q inquiry) decide(ctx context.Context, by, answer, reason string) error {
	e := q.about(Answered)
	e.By, e.Answer, e.Text = by, answer, strings.TrimSpace(reason)
	if p, ok := q.r.proposed(); ok {
		q.note(e)
		if answer == no {
			q.warn("the person did not agree to the changed file%s; the run goes on by its own definition", because(e.Text))
			return nil
		}
		w, err := definition.ParsePinned(q.r.Workflow, p.Definition)
		if err == nil {
			state, _ := tryOut(ctx, q.standing, w) // What is stuck is told when the run goes on.
			adopt(q.turn, w, by, state)
		}
		return err
	}
	done := q.at(Done)
	done.By, done.State = by, q.next.State
	waits := q.r.until[q.gate()]
	q.note(e)
	switch {
	case q.why == askAnswer:
		done.Output = answer
		if name := q.next.Step.Act.Result; name != "" {
			value := json.RawMessage(answer)
			if !q.counts() || !json.Valid(value) {
				value = json.RawMessage(quoted(answer))
			}
			done.Context = variable(name, value)
		}
	case q.why == askUnknown && answer == wasMade, q.why == askLate && answer == yes:
		done.Notes = "a person said so"
	case q.why == askLate: // It goes on to wait, at the address that was given out.
		q.note(q.begins(waits.Hook))
		return nil
	default:
		return nil
	}
	q.note(done)
	return nil
}

// waiting is the answer where a person has to answer.
func (q inquiry) waiting(ctx context.Context) (Answer, error) {
	return q.answer(ctx, statePerson, q.howToAnswer())
}

// howToAnswer says that a person has to answer, and how.
func (q inquiry) howToAnswer() string {
	var b strings.Builder
	at := "about its definition"
	if q.next.Step != nil && q.why != askRebase {
		at = fmt.Sprintf("at the step %q", q.next.Step.Title)
	}
	if asked, _ := q.asked(); !q.why.plain() || q.why == askRebase {
		fmt.Fprintf(&b, "%s asks a person: %s\n\n", q.r.ID, asked.Text)
	}
	if q.why == askAgree && q.r.answers[q.gate()].Answer == no {
		fmt.Fprintf(&b, "The person did not agree to the step %q of %s%s. Do not continue it.\n\n", q.next.Step.Title, q.r.ID, because(q.r.answers[q.gate()].Text))
	}
	if q.why == askRebase {
		to := slices.IndexFunc(q.r.Events, func(e Event) bool { return e.Hash != "" && e.Hash == hashOf(q.asked()) })
		fmt.Fprintf(&b, "To go on without the changed file: workflow_run {\"run\":%q,\"action\":\"rewind\",\"to\":%d}.\n\n", q.r.ID, to)
	}
	fmt.Fprintf(&b, "%s waits for a person %s. You cannot answer for the person. Tell the person, who answers at a terminal with\n"+
		"  workbench runs answer %s\n"+
		"or lets workbench runs answer %s --code print a one-time code, and gives you the code: workflow_next {\"run\":%q,\"code\":\"…\"}.\n"+
		"Then call workflow_next {\"run\":%q}.", q.r.ID, at, q.r.ID, q.r.ID, q.r.ID, q.r.ID)
	return b.String()
}

// useCode takes a one-time code for what the person has answered with it.
func (q inquiry) useCode(ctx context.Context, code string) error {
	if q.why == askNothing {
		return &Error{fmt.Sprintf("run %s waits for no person", q.r.ID), "call workflow_next without a code"}
	}
	e := q.about(Refused)
	at := gate(e.Step, e.Pass)
	coded, ok := q.r.codes[at]
	ok = ok && coded.Digest == e.Digest && !q.r.outdated(coded.Hash)
	switch {
	case !ok:
		return &Error{fmt.Sprintf("no code was made for the step %q of run %s", e.Step, q.r.ID),
			"only a person can make one: workbench runs answer " + q.r.ID + " --code, at a terminal"}
	case q.r.wrong[at] >= maxWrong:
		return &Error{fmt.Sprintf("the code for the step %q is no longer valid: %d wrong ones were tried", e.Step, maxWrong),
			"ask the person for another one"}
	case time.Since(coded.At).Abs() > codeLife: // also where the clock was put back since
		return &Error{fmt.Sprintf("the code for the step %q has expired after %v", e.Step, codeLife), "ask the person for another one"}
	}
	if subtle.ConstantTimeCompare([]byte(coded.Hash), []byte(hashCode(q.r.ID, at, code))) != 1 {
		e.By, e.Text = q.who.agent(), wrongCode
		q.note(e)
		if err := q.flush(ctx, 0); err != nil {
			return err
		}
		return &Error{fmt.Sprintf("that is not the code; %d more may be tried", maxWrong-q.r.wrong[at]), "ask the person for it"}
	}
	if err := q.decide(ctx, byPerson+"code", coded.Answer, coded.Text); err != nil {
		return err
	}
	q.settle(ctx)
	return nil
}

// newCode makes a code that a person can type. An agent may read what is kept of it ([hashCode]), so that it has more
// letters than can be tried.
func newCode() string { return letters(4) + "-" + letters(4) + "-" + letters(4) + "-" + letters(4) }

// hashCode is what is kept of a code.
func hashCode(run, at, code string) string {
	code = strings.ToLower(strings.Join(strings.FieldsFunc(code, func(r rune) bool { return r == '-' || r == ' ' }), ""))
	sum := sha256.Sum256([]byte(run + " " + at + " " + strings.TrimSpace(code)))
	return hex.EncodeToString(sum[:])
}

// An Opinion is what a person says of a run that waits.
type Opinion struct {
	Run    string
	Answer string
	Reason string
	How    string // such as terminal
	// Question is the State of the question that the person has seen: if the run asks another one meanwhile, the
	// answer is refused. "" is an answer to whatever is asked.
	Question string
	// Code asks for a one-time code that stands for the answer.
	Code bool
}

// ErrNoQuestion says that a run waits for no person.
var ErrNoQuestion = errors.New("the run waits for no person")

// Pending returns what a person is asked about a run, and the answers there are to choose from; nil: any text. Of the
// question it gives the Message, and the State for [Opinion].
func (e *Engine) Pending(ctx context.Context, principal, run string) (question Question, answers []string, err error) {
	t, err := e.open(ctx, Caller{Principal: principal}, run)
	if err != nil {
		return Question{}, nil, err
	}
	defer t.done()
	q := inquiry{t, t.asks(ctx)}
	if q.why == askNothing {
		return Question{}, nil, ErrNoQuestion
	}
	return Question{Message: t.question(ctx, q.why), State: q.seen(ctx)}, q.why.choices(t.deed()), nil
}

// seen tells a question from all others of the run, and from the same one once it was answered.
func (q inquiry) seen(ctx context.Context) string {
	answered := 0
	for _, e := range q.r.Events {
		if e.Kind == Answered {
			answered++
		}
	}
	e := q.about(Asked)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %s", gate(e.Step, e.Pass), answered, q.question(ctx, q.why)))
	return hex.EncodeToString(sum[:8])
}

// Say takes what a person says of a run that waits. It must be called for a person only. The code is "" unless one was
// asked for.
func (e *Engine) Say(ctx context.Context, principal string, o Opinion) (code string, err error) {
	t, err := e.open(ctx, Caller{Principal: principal}, o.Run)
	if err != nil {
		return "", err
	}
	defer t.done()
	q := inquiry{t, t.asks(ctx)}
	if q.why == askNothing {
		return "", ErrNoQuestion
	}
	if o.Question != "" && o.Question != q.seen(ctx) {
		return "", &Error{"the run asks something else by now: " + t.question(ctx, q.why), "answer that"}
	}
	answer, err := t.fits(q.why, o.Answer)
	if err != nil {
		return "", err
	}
	if !o.Code {
		if err := q.decide(ctx, byPerson+o.How, answer, o.Reason); err != nil {
			return "", err
		}
		t.settle(ctx)
		if t.next.IsComplete {
			t.note(Event{Kind: Finished})
		}
		return "", t.flush(ctx, 0)
	}
	code = newCode()
	made := t.about(Coded)
	made.By, made.Answer, made.Text, made.Hash = byPerson+o.How, answer, o.Reason, hashCode(t.r.ID, gate(made.Step, made.Pass), code)
	t.note(made)
	return code, t.flush(ctx, 0)
}
