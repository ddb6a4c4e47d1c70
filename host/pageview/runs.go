package pageview

import (
	"bytes"
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/workbench/internal/page"
)

const (
	// runsPeriod is how often it is looked which runs of workflows are kept, for all viewers at once.
	runsPeriod = 2 * time.Second
	// mostRuns is how many are shown, the latest.
	mostRuns = "200"
)

// runs shows the runs of workflows that are kept, and has people answer what they ask.
type runs struct {
	run     commands
	pending func(ctx context.Context, user, run string) (question, state string, answers []string, err error)
	say     func(ctx context.Context, user, run, state, answer, reason string) error

	looking atomic.Bool
	last    atomic.Pointer[latest]
}

// latest are the runs of all users at a time, as runs list --json prints them.
type latest struct {
	at  time.Time
	all []keptRun
}

// keptRun is a run, and whose it is.
type keptRun struct {
	user string
	text json.RawMessage
}

func (k *keptRun) UnmarshalJSON(text []byte) error {
	var of struct {
		User string `json:"user_id"`
	}
	k.text = bytes.Clone(text)
	err := json.Unmarshal(text, &of)
	k.user = of.User
	return err
}

// follow gives the runs that a viewer may see, again and again, until ctx ends.
func (r *runs) follow(ctx context.Context, q *page.Query, kept chan<- []json.RawMessage) {
	tick := time.NewTicker(runsPeriod)
	defer tick.Stop()
	for {
		list := []json.RawMessage{}
		for _, k := range r.look(ctx) {
			if q.Admin || k.user == q.Name {
				list = append(list, k.text)
			}
		}
		select {
		case kept <- list:
		case <-ctx.Done():
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// look gives the runs as they were seen last, which one of those who look does anew where that is too long ago. What
// cannot be read stays as it was seen: the view of a run says why.
func (r *runs) look(ctx context.Context) []keptRun {
	last := r.last.Load()
	if (last == nil || time.Since(last.at) > runsPeriod/2) && r.looking.CompareAndSwap(false, true) {
		defer r.looking.Store(false)
		now := latest{at: time.Now()}
		text, err := r.run.json(ctx, "runs", "list", "--json", "--limit="+mostRuns)
		if err == nil && json.Unmarshal(text, &now.all) == nil {
			r.last.Store(&now)
			return now.all
		}
	}
	if last == nil {
		return nil
	}
	return last.all
}

// shownRun is a run with what it asks a person.
type shownRun struct {
	Run      json.RawMessage `json:"run"`
	Question string          `json:"question,omitempty"`
	State    string          `json:"state,omitempty"`   // of the question, for the answer
	Answers  []string        `json:"answers,omitempty"` // nil: any text
	Problem  string          `json:"problem,omitempty"` // why the question is not known
}

// one gives all that is known of a run.
func (r *runs) one(ctx context.Context, q *page.Query, a *asked) (any, error) {
	if !q.Admin {
		a.User = q.Name
	}
	text, err := r.run.json(ctx, about([]string{"runs", "show", "--json", "--user=" + a.User}, a.ID)...)
	if err != nil {
		return nil, err
	}
	shown := shownRun{Run: text}
	var at struct{ Status string }
	if json.Unmarshal(text, &at) != nil || at.Status != "person" {
		return shown, nil
	}
	if shown.Question, shown.State, shown.Answers, err = r.pending(ctx, a.User, a.ID); err != nil {
		shown.Problem = err.Error()
	}
	return shown, nil
}

// answer has a run go by what the viewer says.
func (r *runs) answer(ctx context.Context, _ *page.Query, a *asked) (any, error) {
	if last := r.last.Load(); last != nil {
		defer r.last.Store(&latest{all: last.all}) // which is looked at anew
	}
	return nil, r.say(ctx, a.User, a.ID, a.State, a.Answer, a.Reason)
}
