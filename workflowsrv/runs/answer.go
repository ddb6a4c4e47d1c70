package runs

import (
	"context"
	"fmt"
	"time"

	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/stepping"
)

// The states of an answer, beside the statuses of runs at their end.
const (
	stateStep    = "step"    // do what the text says
	stateBlocked = "blocked" // the output does not do
	stateMissing = "missing" // variables are to be set
	statePerson  = "person"  // a person has to answer
	stateWaiting = "waiting" // for a time, a file or a request
	stateRuns    = "runs"    // that this one has begun are to be done first
	stateFailed  = "failed"  // the tool of the step, or the search for the next one

	stateCheckpoint = "checkpoint" // the place has a name now
)

// data is Answer.Data before it is encoded.
type data struct {
	Run        string             `json:"run"`
	Workflow   string             `json:"workflowId"`
	State      string             `json:"state"`
	IsComplete bool               `json:"isComplete"`
	Step       *stepData          `json:"step"`
	Loop       *loopData          `json:"loop,omitempty"`
	ModelHint  string             `json:"modelHint,omitempty"`
	Missing    []stepping.Missing `json:"missing,omitempty"`
	Blocked    []Reason           `json:"blocked,omitempty"`
	Warnings   []string           `json:"warnings,omitempty"`
	Runs       []childData        `json:"runs,omitempty"`
	Expires    *time.Time         `json:"expires,omitempty"`
	Done       int                `json:"done"`
	Event      int                `json:"event"`
}

type stepData struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

type loopData struct {
	ID        string `json:"id"`
	Iteration int    `json:"iteration"`
	Total     *int   `json:"total,omitempty"`
}

// answer words where the run is. text is for the model; "" means the prompt of the step. What the answer depends on is
// kept before: a turn has no other way to an answer, but for the question of inquiry.ask.
func (t *turn) answer(ctx context.Context, state, text string, blocked ...Reason) (Answer, error) {
	if err := t.flush(ctx, 0); err != nil {
		return Answer{}, err
	}
	d := data{
		Run: t.r.ID, Workflow: t.r.Workflow, State: state, IsComplete: t.r.Status == StatusFinished,
		Missing: t.next.Missing, Blocked: blocked, Warnings: append(t.warnings, t.next.Warnings...), Done: t.r.Done, Event: len(t.r.Events),
		Runs: t.children, Expires: t.e.expires(t.r),
	}
	if s := t.next.Step; s != nil && !t.r.Status.Over() {
		d.Step, d.ModelHint = &stepData{s.ID, s.Title}, t.next.ModelHint
		if l := t.next.Loop; l != nil {
			d.Loop = &loopData{l.ID, l.Iteration, l.Total}
		}
	}
	if text == "" {
		text = t.prompt(t.joined)
	}
	for _, w := range d.Warnings {
		text += "\n\nNote: " + w
	}
	return Answer{Text: text, Data: wire.MustEncode(d)}, nil
}

// over is the answer about a run that has ended.
func (t *turn) over(ctx context.Context) (Answer, error) {
	text := fmt.Sprintf("%s is finished: every step that applies is done. Workflow complete.", t.r.ID)
	if t.r.Status != StatusFinished {
		how := map[Status]string{StatusAbandoned: "was abandoned", StatusExpired: "has expired"}[t.r.Status]
		text = fmt.Sprintf("%s %s%s. To go on anyway, call workflow_run with action rewind and the event to go back to; the last one is %d.",
			t.r.ID, how, because(t.r.Events[len(t.r.Events)-1].Text), len(t.r.Events)-1)
	}
	return t.answer(ctx, string(t.r.Status), text)
}
