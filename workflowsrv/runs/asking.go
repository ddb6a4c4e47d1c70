package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/stepping"
)

// What a person answers where a step is to be agreed to.
const (
	yes = "yes"
	no  = "no"
)

// An asking is why a person is asked.
type asking string

const (
	askNothing asking = ""
	askAgree   asking = "agree"   // whether the step may begin: yes or no
	askAnswer  asking = "answer"  // what the step itself asks
	askUnknown asking = "unknown" // whether a call that may have been made was: again or done
	askLate    asking = "late"    // whether to go on without what was waited for: yes or no
	askRebase  asking = "rebase"  // whether to go by a definition that asks less: yes or no
)

// What a person answers of a call of which nobody knows whether it was made.
const (
	callAgain = "again"
	wasMade   = "done"
)

// plain reports whether the answer is yes or no.
func (why asking) plain() bool { return why == askAgree || why == askLate || why == askRebase }

// choices are the answers there are to choose from; nil: any text.
func (why asking) choices(act *definition.Act) []string {
	switch why {
	case askAnswer:
		return act.Answers
	case askUnknown:
		return []string{wasMade, callAgain}
	}
	return []string{yes, no}
}

// form is what the person fills in.
func (why asking) form(act *definition.Act) []byte {
	if why.plain() {
		return []byte(`{"type":"object","properties":{"agree":{"type":"boolean","title":"Go on?"},` +
			`"reason":{"type":"string","title":"If not, why?"}},"required":["agree"]}`)
	}
	field := `{"type":"string","title":"Answer"`
	if list := why.choices(act); len(list) > 0 {
		field += `,"enum":` + string(wire.MustEncode(list))
	}
	return []byte(`{"type":"object","properties":{"answer":` + field + `}},"required":["answer"]}`)
}

// fits returns an answer as it is meant, or says what there is to choose from.
func (s *standing) fits(why asking, answer string) (string, error) {
	answer = strings.TrimSpace(answer)
	list := why.choices(s.deed())
	if why.plain() {
		switch strings.ToLower(answer) {
		case "y":
			answer = yes
		case "n":
			answer = no
		}
	}
	var number *float64
	if why == askAnswer && s.counts() && (json.Unmarshal([]byte(answer), &number) != nil || number == nil) {
		return "", &Error{fmt.Sprintf("the answer to this question is a number, not %q", cut.Short(answer)), "say one"}
	}
	if len(list) == 0 && answer != "" {
		return answer, nil
	}
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
		for _, choice := range list {
			if same(strings.TrimSpace(choice), answer) {
				return choice, nil
			}
		}
	}
	if len(list) == 0 {
		return "", &Error{"the answer is empty", "say something"}
	}
	return "", &Error{fmt.Sprintf("the answer to this question is one of %s, not %q", strings.Join(list, ", "), cut.Short(answer)), "say one of them"}
}

// counts reports whether a loop goes by the answer to the question of the step, which must be a number then.
func (s *standing) counts() bool {
	for step := range s.w.All() {
		if step.Loop != nil && step.Loop.CountVar != "" && step.Loop.CountVar == s.next.Step.Act.Result {
			return true
		}
	}
	return false
}

// question is what the person is asked about the step where the run is.
func (s *standing) question(ctx context.Context, why asking) string {
	if why == askRebase {
		p, _ := s.r.proposed()
		return p.Text
	}
	step, act, workflow := s.next.Step, s.next.Step.Act, s.workflow()
	args := foreign.NewText(string(s.args))
	switch why {
	case askAnswer:
		return stepping.Fill(act.Question, s.scope(ctx))
	case askUnknown:
		e := s.r.intents[s.gate()]
		now := ""
		if !bytes.Equal(e.Arguments, s.args) {
			now = fmt.Sprintf(", with %s", args)
		}
		call := fmt.Sprintf("%s with %s", e.Tool, foreign.NewText(string(e.Arguments)))
		what := fmt.Sprintf("was about to call %s when workbench ended, and nobody knows whether it did", call)
		if e.Text != "" {
			what = fmt.Sprintf("called %s, and nobody knows what came of it: %s", call, foreign.NewText(e.Text))
		}
		return fmt.Sprintf("%s %s. Look, then answer %q if the call was made, or %q to make it now%s.", workflow, what, wasMade, callAgain, now)
	case askLate:
		what := "the file " + s.file
		if act.Webhook {
			what = "a request"
		}
		return fmt.Sprintf("%s has waited for %s, and it did not come. Shall it go on without?", workflow, what)
	}
	text := fmt.Sprintf("%s comes to the step %q. Shall it go on?", workflow, step.Title)
	if act != nil && act.Kind == definition.ActTool {
		text = fmt.Sprintf("%s comes to the step %q, which calls %s with %s. Shall it go on?", workflow, step.Title, toolName(act), args)
	}
	if word := brief(s.r.last); word != "" {
		text += fmt.Sprintf("\nThe step before it ended with: %q", foreign.NewText(word))
	}
	return text
}

// workflow names the workflow and what the run is for.
func (s *standing) workflow() string {
	if s.r.Goal == "" {
		return "The workflow " + s.r.Workflow
	}
	return fmt.Sprintf("The workflow %s, which runs for %q,", s.r.Workflow, foreign.NewText(cut.Short(s.r.Goal)))
}

// put is the question of an event, as it is put to the person at a client.
func (s *standing) put(why asking, asked Event) Question {
	return Question{Message: asked.Text, Form: why.form(s.deed()), State: s.r.ID + "/" + asked.Hash, Asked: asked.At}
}

// agreed reports whether a person has agreed to the step where the run is, and to the call that it makes by now, or the
// waiting that has begun. That is good for once: when the step was done and the run went back, the person is asked again.
func (s *standing) agreed() bool {
	at := s.gate()
	_, waits := s.r.until[at]
	agrees := func(e Event) bool { return e.Answer == yes || e.Answer == callAgain }
	if !agrees(s.r.answers[at]) && !waits {
		return false
	}
	for _, e := range slices.Backward(s.r.Events) {
		if e.Kind == Rebased {
			return false // The step was another one.
		}
		if gate(e.Step, e.Pass) != at {
			continue
		}
		switch e.Kind {
		case Intended:
			if waits {
				return true
			}
		case Answered:
			return agrees(e) && e.Digest == s.about(Answered).Digest // also if it was given in a branch that was left
		case Done:
			return false
		}
	}
	return false
}
