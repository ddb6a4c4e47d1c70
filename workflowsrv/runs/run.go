package runs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/store"
)

// Status says whether a run goes on.
type Status string

// The statuses of runs.
const (
	StatusOpen      Status = "open"      // the agent is at a step
	StatusPerson    Status = "person"    // a person is asked
	StatusFinished  Status = "finished"  // the last step is done
	StatusAbandoned Status = "abandoned" // given up
	StatusExpired   Status = "expired"   // nothing had happened for too long
	StatusDamaged   Status = "damaged"   // what is kept of it cannot be read
)

// Over reports whether the run goes on no more.
func (s Status) Over() bool {
	return s == StatusFinished || s == StatusAbandoned || s == StatusExpired || s == StatusDamaged
}

// A Head is what is known of a run without its events.
type Head struct {
	Status     Status `json:"status"`
	Goal       string `json:"goal,omitempty"`
	Name       string `json:"name,omitempty"` // of the workflow
	Repository string `json:"repository,omitempty"`
	Branch     string `json:"branch,omitempty"`
	Client     string `json:"client,omitempty"` // where it was started
	Step       string `json:"step,omitempty"`   // the one it is at
	// Rests is until when that step waits, if it waits for so long.
	Rests *time.Time `json:"rests,omitempty"`
	Done  int        `json:"done"` // how many steps were done
	// Words are the last notes and outputs, for finding the run.
	Words string `json:"words,omitempty"`
	Bytes int    `json:"bytes"` // of its events
}

// A Run is a run with its events, and what follows from them.
type Run struct {
	Head
	ID       string
	Workflow string
	Digest   string // of the definition that it goes by
	Created  time.Time
	Updated  time.Time
	Held     time.Time // until when a process is at work on it
	Events   []Event   // all, also those of branches that were left

	place
}

// A place is where the line of events leads that a run is on.
type place struct {
	compares  string         // how conditions do, as events have it; "" for a run of an older workbench
	completed []string       // ids of steps at the top
	state     string         // the place in the loops
	context   map[string]any // never changed, only replaced
	stops     map[string]int // the pass in which an artifact ended the loop, by its id or, for one from elsewhere, its name
	answers   map[string]Event
	asked     map[string]Event
	codes     map[string]Event
	wrong     map[string]int    // codes tried in vain
	intents   map[string]Event  // without a result
	failures  map[string]int    // of tools
	until     map[string]Event  // waits that have begun
	children  map[string]Event  // that have begun
	doneAt    map[string]string // by whom a step was done, by gate
	last      Event             // the last step that was done
}

func newPlace() place {
	return place{
		context: map[string]any{}, stops: map[string]int{}, answers: map[string]Event{}, asked: map[string]Event{}, codes: map[string]Event{},
		wrong: map[string]int{}, intents: map[string]Event{}, failures: map[string]int{}, until: map[string]Event{}, children: map[string]Event{}, doneAt: map[string]string{},
	}
}

// rebaseStep stands in events for the step, where a person is asked about the definition. It is the id of no step.
const rebaseStep = "changed definition"

// proposed is the question whether the run may go by a definition that asks less; false if there is none.
func (p *place) proposed() (Event, bool) {
	e, ok := p.asked[gate(rebaseStep, 0)]
	return e, ok
}

// outdated reports whether the run goes by another definition since the event with this hash.
func (r *Run) outdated(hash string) bool {
	for _, e := range slices.Backward(r.Events) {
		switch {
		case e.Kind == Rebased:
			return true
		case e.Hash == hash:
			return false
		}
	}
	return false
}

// gate names a step in a pass, which a person may have to agree to.
func gate(step string, pass int) string { return step + "#" + strconv.Itoa(pass) }

// Open reads a run from what a log keeps.
func Open(kept store.Run, events []json.RawMessage) (*Run, error) {
	r := &Run{ID: kept.ID, Workflow: kept.Workflow, Created: kept.Created, place: newPlace()}
	return r, r.read(kept, events)
}

// read adds events that the log has, with what it has of the run besides.
func (r *Run) read(kept store.Run, raw []json.RawMessage) error {
	for _, text := range raw {
		var e Event
		if err := json.Unmarshal(text, &e); err != nil {
			return fmt.Errorf("run %s, event %d: %w", r.ID, len(r.Events)+1, foreign.NewError(err))
		}
		r.add(e)
	}
	r.Digest, r.Updated, r.Held, r.Head = kept.Digest, kept.Updated, kept.Held, Head{}
	if err := json.Unmarshal(kept.Head, &r.Head); err != nil {
		return fmt.Errorf("run %s: %w", r.ID, foreign.NewError(err))
	}
	return nil
}

// add adds an event and what follows from it.
func (r *Run) add(e Event) {
	r.Events = append(r.Events, e)
	if e.Kind == Rewound {
		r.place = newPlace()
		for _, i := range r.Line() {
			r.apply(r.Events[i])
		}
	} else {
		r.apply(e)
	}
	r.summarize(e)
}

// Line returns the indices of the events that led to where the run is: without those of branches that were left.
func (r *Run) Line() []int {
	var line []int
	for i := len(r.Events) - 1; i >= 0; {
		line = append(line, i)
		if e := r.Events[i]; e.Kind == Rewound && e.To >= 0 && e.To <= i {
			i = e.To - 1
		} else {
			i--
		}
	}
	slices.Reverse(line)
	return line
}

// apply changes the place by an event.
func (p *place) apply(e Event) {
	at := gate(e.Step, e.Pass)
	if e.Step == rebaseStep && (e.Kind == Answered || e.Kind == Dismissed) {
		clear(p.asked) // The question of the step comes again.
	}
	switch e.Kind {
	case Started, Noted:
		p.compares = cmp.Or(p.compares, e.Conditions)
		p.learn(e.Context)
		delete(p.failures, at)
	case Done:
		p.learn(e.Context)
		p.state, p.last = e.State, e
		p.doneAt[at] = e.By
		if e.Pass == 0 {
			p.completed = append(slices.Clip(p.completed), e.Step)
		}
		for _, loop := range stopped(e) {
			p.stops[loop] = 1 // It comes to its first pass anyway.
			if loop == e.Loop {
				p.stops[loop] = max(e.Pass, 1)
			}
		}
		delete(p.intents, at)
		delete(p.failures, at)
		delete(p.asked, at)
	case Rebased:
		p.state = cmp.Or(e.State, p.state)
	case Rewound: // What a person was asked, or has got a code for, was before.
		clear(p.asked)
		clear(p.codes)
	case Asked:
		p.asked[at] = e
	case Dismissed:
		delete(p.asked, at)
	case Coded:
		p.codes[at] = e
		delete(p.wrong, at)
	case Refused:
		if e.Text == wrongCode {
			p.wrong[at]++
		}
	case Answered:
		p.answers[at] = e
		delete(p.codes, at)
		delete(p.asked, at)
		delete(p.intents, at)
		delete(p.until, at)
		delete(p.failures, at)
	case Intended:
		switch {
		case e.Tool != "":
			p.intents[at] = e
		case len(e.Children) > 0:
			p.children[at] = e
		default:
			p.until[at] = e
		}
	case Lost:
		if call, ok := p.intents[at]; ok {
			call.Text = e.Text
			p.intents[at] = call
		}
	case Returned:
		delete(p.intents, at)
		if e.Text != "" {
			p.failures[at]++
		}
	}
}

// learn takes variables of the context.
func (p *place) learn(text json.RawMessage) {
	if more := decode(text); len(more) > 0 {
		all := maps.Clone(p.context)
		maps.Copy(all, more)
		p.context = all
	}
}

// decode reads an object with its numbers as they are written; nil for anything else.
func decode(text json.RawMessage) map[string]any {
	if len(text) == 0 {
		return nil
	}
	var m map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if d.Decode(&m) != nil {
		return nil
	}
	return m
}

// maxWords bounds what a run can be found by besides its head.
const maxWords = 4 << 10

// summarize brings the head up to date, but for the step that the run is at.
func (r *Run) summarize(e Event) {
	switch e.Kind {
	case Started:
		r.Goal, r.Repository, r.Branch = e.Goal, e.Repository, e.Branch
		r.Client = strings.TrimPrefix(e.By, byAgent)
		r.Status = StatusOpen
	case Asked:
		r.Status = StatusPerson
	case Finished:
		r.Status = StatusFinished
	case Abandoned:
		r.Status = StatusAbandoned
	case Expired:
		r.Status = StatusExpired
	case Rewound:
		r.Status, r.Done = StatusOpen, 0
		for _, i := range r.Line() {
			if r.Events[i].Kind == Done {
				r.Done++
			}
		}
	case Done:
		r.Status = StatusOpen
		r.Done++
	case Dismissed:
		if e.Step == rebaseStep {
			r.Status = StatusOpen
		}
	case Answered, Rebased:
		r.Status = StatusOpen
	}
	if text := strings.TrimSpace(e.Notes + " " + e.Output + " " + e.Answer); text != "" {
		r.Words = tail(r.Words+" "+text, maxWords)
	}
}

// tail returns the end of a text, in whole characters.
func tail(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[len(text)-most:], "")
}

// stopped names the loops that the artifacts of a step end.
func stopped(e Event) []string {
	var loops []string
	for _, text := range e.Artifacts {
		var a struct {
			Kind     string `json:"kind"`
			LoopID   string `json:"loopId"`
			Decision string `json:"decision"`
		}
		if json.Unmarshal(text, &a) == nil && a.Kind == loopControl && a.Decision == "stop" {
			if a.LoopID == "" || a.LoopID == e.LoopName {
				a.LoopID = e.Loop
			}
			if a.LoopID != "" { // None is that of a step outside of all loops.
				loops = append(loops, a.LoopID)
			}
		}
	}
	return loops
}
