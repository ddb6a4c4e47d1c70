package runs

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/stepping"
)

// A Question is put to the person at a client.
type Question struct {
	Message string
	Form    []byte // a flat JSON Schema
	State   string // comes back with the reply
}

// A Reply is what the person replied to a question.
type Reply struct {
	State  string
	Action string // accept, decline or cancel
	Form   []byte // what was filled in
}

// An Answer is what a call about a run gives.
type Answer struct {
	// Text is for the model: the prompt of the step, or what keeps it from being handed out.
	Text string
	// Data is the same for programs, without the prompt: a JSON object.
	Data []byte
	// Question takes the place of both where it is not nil.
	Question *Question
}

// The states of an answer, beside the statuses of runs at their end.
const (
	stateStep    = "step"    // do what the text says
	stateBlocked = "blocked" // the output does not do
	stateMissing = "missing" // variables are to be set
	statePerson  = "person"  // a person has to answer
	stateWaiting = "waiting" // for a time, a file or a request
	stateRuns    = "runs"    // that this one has begun are to be done first
	stateFailed  = "failed"  // the tool of the step

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

// answer words where the run is. text is for the model; "" means the prompt of the step.
func (t *turn) answer(state, text string, blocked ...Reason) Answer {
	d := data{
		Run: t.r.ID, Workflow: t.r.Workflow, State: state, IsComplete: t.r.Status == StatusFinished,
		Missing: t.next.Missing, Blocked: blocked, Warnings: append(t.warnings, t.next.Warnings...), Done: t.r.Done, Event: len(t.r.Events),
		Runs: t.children, Expires: t.e.expires(t.r.Status, t.r.Updated),
	}
	if s := t.next.Step; s != nil && !t.r.Status.Over() {
		d.Step, d.ModelHint = &stepData{s.ID, s.Title}, t.next.ModelHint
		if l := t.next.Loop; l != nil {
			d.Loop = &loopData{l.ID, l.Iteration, l.Total}
		}
	}
	if text == "" {
		text = t.prompt()
	}
	for _, w := range d.Warnings {
		text += "\n\nNote: " + w
	}
	encoded, err := wire.Encode(d)
	if err != nil {
		encoded = json.RawMessage(`{}`)
	}
	return Answer{Text: text, Data: encoded}
}

// prompt is the prompt of the step with how to go on.
func (t *turn) prompt() string {
	s := t.next.Step
	var b strings.Builder
	prompt := t.next.Prompt
	if t.joined != "" {
		prompt = t.joined
	}
	fmt.Fprintf(&b, "%s, step %s: %s\n\n%s", t.r.ID, s.ID, s.Title, prompt)
	var d demands
	_ = json.Unmarshal(s.JSON, &d)
	want := `"notes":"…"`
	if s.Criteria != nil {
		want = `"output":"…"`
	}
	fmt.Fprintf(&b, "\n\nThen workflow_next {\"run\":%q,\"step\":%q,%s}", t.r.ID, s.ID, want)
	if s.Criteria != nil {
		b.WriteString(": output is checked for: " + strings.Join(t.next.ValidationCriteria, "; "))
	}
	loop := ""
	if t.next.Loop != nil {
		loop = t.next.Loop.ID
	}
	var r refusal
	r.judgeArtifacts(t.w, d, loop, submission{})
	if len(r.artifacts) > 0 {
		b.WriteString("\nWith \"artifacts\":[" + strings.Join(r.artifacts, ",") + "], filled in by what you found.")
	}
	return b.String()
}

// refused words what keeps the next step from being handed out.
func (t *turn) refused(r refusal) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Step %s of %s is not done yet:", t.next.Step.ID, t.r.ID)
	for _, reason := range r.reasons {
		b.WriteString("\n- " + reason.What)
		if reason.Why != "" {
			b.WriteString(" (" + reason.Why + ")")
		}
	}
	call := fmt.Sprintf(`{"run":%q,"step":%q,`, t.r.ID, t.next.Step.ID)
	switch sample := r.template(); {
	case sample != "":
		b.WriteString("\n\nThis form would pass; put into it what you really found: workflow_next " + call + sample + "}")
	case t.next.Step.Criteria == nil && len(r.artifacts) == 0:
		b.WriteString("\n\nSay what came of it: workflow_next " + call + `"notes":"…"}`)
	default:
		b.WriteString("\n\nMend the output and send it again: workflow_next " + call + `"output":"…"}`)
	}
	return b.String()
}

// recap says what was done so far, for who comes new to the run.
func (t *turn) recap() string {
	var b strings.Builder
	fmt.Fprintf(&b, "This is %s of the workflow %s", t.r.ID, t.r.Workflow)
	if t.r.Goal != "" {
		b.WriteString(". Its goal: " + t.r.Goal)
	}
	if until := t.e.expires(t.r.Status, t.r.Updated); until != nil {
		fmt.Fprintf(&b, "\nIt expires at %s unless it goes on.", until.Format("2006-01-02 15:04"))
	}
	line := t.r.Line()
	var done []Event
	for _, i := range line {
		if t.r.Events[i].Kind == Done {
			done = append(done, t.r.Events[i])
		}
	}
	if len(done) > 0 {
		b.WriteString("\n\nDone so far:")
	}
	const shown = 12
	if len(done) > shown {
		fmt.Fprintf(&b, "\n- %d steps before", len(done)-shown)
		done = done[len(done)-shown:]
	}
	for _, e := range done {
		b.WriteString("\n- " + e.Step)
		if e.Pass > 0 {
			fmt.Fprintf(&b, " (pass %d)", e.Pass)
		}
		if text := brief(e); text != "" {
			b.WriteString(": " + text)
		}
	}
	if text, err := wire.Encode(t.r.context); err == nil && len(t.r.context) > 0 && len(text) < 2<<10 {
		b.WriteString("\n\nContext: " + string(text))
	}
	return b.String()
}

// brief is what an event says came of a step, in a line.
func brief(e Event) string {
	text := e.Notes
	if text == "" {
		text = e.Output
	}
	if text == "" {
		text = string(e.Result)
	}
	return cut.After(strings.Join(strings.Fields(text), " "), 300)
}

// rules are those of the workflow that the prompt does not have.
func rules(w *definition.Workflow, prompt string) string {
	var b strings.Builder
	for _, part := range []struct {
		title string
		texts []string
	}{{"Before it starts", w.Preconditions}, {"Settle first", w.ClarificationPrompts}, {"Rules throughout", w.MetaGuidance}} {
		if len(part.texts) == 0 || strings.Contains(prompt, part.texts[0]) {
			continue
		}
		b.WriteString(part.title + ":\n- " + strings.Join(part.texts, "\n- ") + "\n\n")
	}
	return b.String()
}

// quoted writes a JSON string.
func quoted(text string) string { return string(wire.AppendQuote(nil, text)) }
