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
			return t.askPerson(ctx, askRebase)
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
			return t.askPerson(ctx, why)
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

// askPerson asks the person about the step where the run is.
func (t *turn) askPerson(ctx context.Context, why asking) (Answer, error) {
	asked, ok := t.asked()
	if !ok {
		asked = t.about(Asked)
		asked.Text, asked.Hash = t.question(ctx, why), store.NewID()
		t.note(asked)
	}
	if err := t.flush(ctx, 0); err != nil {
		return Answer{}, err
	}
	q := t.put(why, asked)
	if reply := t.who.Reply; reply != nil && reply.State == q.State {
		t.who.Reply = nil
		return t.replied(ctx, why, *reply)
	}
	switch {
	case t.who.Ask != nil:
		reply, err := t.who.Ask(ctx, q)
		if err != nil {
			t.warn("the person could not be asked at this client: %v", err)
			return t.waiting(ctx, why)
		}
		return t.replied(ctx, why, reply)
	case t.who.Asks:
		return Answer{Question: &q}, nil
	}
	return t.waiting(ctx, why)
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
		a, err = t.replied(ctx, why, *reply)
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
func (t *turn) replied(ctx context.Context, why asking, reply Reply) (Answer, error) {
	var form struct {
		Agree  bool   `json:"agree"`
		Answer string `json:"answer"`
		Reason string `json:"reason"`
	}
	plain := why.plain()
	switch reply.Action {
	case "accept":
		if err := json.Unmarshal(reply.Form, &form); err != nil {
			t.warn("the client's reply could not be read")
			return t.dismissed(ctx, why)
		}
	case "decline":
		if !plain {
			return t.dismissed(ctx, why)
		}
	default:
		return t.dismissed(ctx, why)
	}
	answer := form.Answer
	if plain {
		answer = no
		if form.Agree {
			answer = yes
		}
	}
	answer, err := t.fits(why, answer)
	if err != nil {
		t.warn("%v", err)
		return t.dismissed(ctx, why)
	}
	if err := t.decide(ctx, why, t.who.person(), answer, form.Reason); err != nil {
		return Answer{}, err
	}
	t.settle(ctx)
	if answer == no && why == askAgree {
		return t.waiting(ctx, why)
	}
	return t.goOn(ctx)
}

// dismissed notes that the person gave no answer to a question, which is another one when it is asked again.
func (t *turn) dismissed(ctx context.Context, why asking) (Answer, error) {
	text := t.howToAnswer(why)
	e := t.about(Dismissed)
	e.By = t.who.person()
	t.note(e)
	if why == askRebase {
		t.warn("the person did not answer about the changed file; the run goes on by its own definition")
		return t.goOn(ctx)
	}
	return t.answer(ctx, statePerson, text)
}

// decide notes what a person has answered about the step where the run is, and what follows for the step itself.
func (t *turn) decide(ctx context.Context, why asking, by, answer, reason string) error {
	e := t.about(Answered)
	e.By, e.Answer, e.Text = by, answer, strings.TrimSpace(reason)
	if p, ok := t.r.proposed(); ok {
		t.note(e)
		if answer == no {
			t.warn("the person did not agree to the changed file%s; the run goes on by its own definition", because(e.Text))
			return nil
		}
		w, err := t.e.parser.ParsePinned(t.r.Workflow, p.Definition)
		if err == nil {
			state, _ := t.tryOut(ctx, w) // What is stuck is told when the run goes on.
			adopt(t, w, by, state)
		}
		return err
	}
	done := t.at(Done)
	done.By, done.State = by, t.next.State
	waits := t.r.until[t.gate()]
	t.note(e)
	switch {
	case why == askAnswer:
		done.Output = answer
		if name := t.next.Step.Act.Result; name != "" {
			value := json.RawMessage(answer)
			if !t.counts() || !json.Valid(value) {
				value = json.RawMessage(quoted(answer))
			}
			done.Context = variable(name, value)
		}
	case why == askUnknown && answer == wasMade, why == askLate && answer == yes:
		done.Notes = "a person said so"
	case why == askLate: // It goes on to wait, at the address that was given out.
		t.note(t.begins(waits.Hook))
		return nil
	default:
		return nil
	}
	t.note(done)
	return nil
}

// waiting is the answer where a person has to answer.
func (t *turn) waiting(ctx context.Context, why asking) (Answer, error) {
	return t.answer(ctx, statePerson, t.howToAnswer(why))
}

// howToAnswer says that a person has to answer, and how.
func (t *turn) howToAnswer(why asking) string {
	var b strings.Builder
	at := "about its definition"
	if t.next.Step != nil && why != askRebase {
		at = fmt.Sprintf("at the step %q", t.next.Step.Title)
	}
	if asked, _ := t.asked(); !why.plain() || why == askRebase {
		fmt.Fprintf(&b, "%s asks a person: %s\n\n", t.r.ID, asked.Text)
	}
	if why == askAgree && t.r.answers[t.gate()].Answer == no {
		fmt.Fprintf(&b, "The person did not agree to the step %q of %s%s. Do not continue it.\n\n", t.next.Step.Title, t.r.ID, because(t.r.answers[t.gate()].Text))
	}
	if why == askRebase {
		to := slices.IndexFunc(t.r.Events, func(e Event) bool { return e.Hash != "" && e.Hash == hashOf(t.asked()) })
		fmt.Fprintf(&b, "To go on without the changed file: workflow_run {\"run\":%q,\"action\":\"rewind\",\"to\":%d}.\n\n", t.r.ID, to)
	}
	fmt.Fprintf(&b, "%s waits for a person %s. You cannot answer for the person. Tell the person, who answers at a terminal with\n"+
		"  workbench runs answer %s\n"+
		"or lets workbench runs answer %s --code print a one-time code, and gives you the code: workflow_next {\"run\":%q,\"code\":\"…\"}.\n"+
		"Then call workflow_next {\"run\":%q}.", t.r.ID, at, t.r.ID, t.r.ID, t.r.ID, t.r.ID)
	return b.String()
}

// useCode takes a one-time code for what the person has answered with it.
func (t *turn) useCode(ctx context.Context, code string) error {
	why := t.asks(ctx)
	if why == askNothing {
		return &Error{fmt.Sprintf("run %s waits for no person", t.r.ID), "call workflow_next without a code"}
	}
	e := t.about(Refused)
	at := gate(e.Step, e.Pass)
	coded, ok := t.r.codes[at]
	ok = ok && coded.Digest == e.Digest && !t.r.outdated(coded.Hash)
	switch {
	case !ok:
		return &Error{fmt.Sprintf("no code was made for the step %q of run %s", e.Step, t.r.ID),
			"only a person can make one: workbench runs answer " + t.r.ID + " --code, at a terminal"}
	case t.r.wrong[at] >= maxWrong:
		return &Error{fmt.Sprintf("the code for the step %q is no longer valid: %d wrong ones were tried", e.Step, maxWrong),
			"ask the person for another one"}
	case time.Since(coded.At).Abs() > codeLife: // also where the clock was put back since
		return &Error{fmt.Sprintf("the code for the step %q has expired after %v", e.Step, codeLife), "ask the person for another one"}
	}
	if subtle.ConstantTimeCompare([]byte(coded.Hash), []byte(hashCode(t.r.ID, at, code))) != 1 {
		e.By, e.Text = t.who.agent(), wrongCode
		t.note(e)
		if err := t.flush(ctx, 0); err != nil {
			return err
		}
		return &Error{fmt.Sprintf("that is not the code; %d more may be tried", maxWrong-t.r.wrong[at]), "ask the person for it"}
	}
	if err := t.decide(ctx, why, byPerson+"code", coded.Answer, coded.Text); err != nil {
		return err
	}
	t.settle(ctx)
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
	why := t.asks(ctx)
	if why == askNothing {
		return Question{}, nil, ErrNoQuestion
	}
	return Question{Message: t.question(ctx, why), State: t.seen(ctx, why)}, why.choices(t.deed()), nil
}

// seen tells a question from all others of the run, and from the same one once it was answered.
func (t *turn) seen(ctx context.Context, why asking) string {
	answered := 0
	for _, e := range t.r.Events {
		if e.Kind == Answered {
			answered++
		}
	}
	e := t.about(Asked)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %s", gate(e.Step, e.Pass), answered, t.question(ctx, why)))
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
	why := t.asks(ctx)
	if why == askNothing {
		return "", ErrNoQuestion
	}
	if o.Question != "" && o.Question != t.seen(ctx, why) {
		return "", &Error{"the run asks something else by now: " + t.question(ctx, why), "answer that"}
	}
	answer, err := t.fits(why, o.Answer)
	if err != nil {
		return "", err
	}
	if !o.Code {
		if err := t.decide(ctx, why, byPerson+o.How, answer, o.Reason); err != nil {
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
