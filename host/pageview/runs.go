package pageview

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/page"
	"github.com/mcp-workbench/workbench/internal/principal"
)

const (
	// runsPeriod is how often it is looked which runs of workflows are kept, for all who see the same at once.
	runsPeriod = 2 * time.Second
	// mostShown is how many runs or conversations are shown to a viewer, the latest; the page says so too.
	mostShown = 200
)

// mostKept is mostShown for commands.
var mostKept = strconv.Itoa(mostShown)

// runs shows the runs of workflows that are kept, and has people answer what they ask.
type runs struct {
	run     commands
	of      func(who principal.Principal) bool
	pending func(ctx context.Context, user, run string) (question, state string, answers []string, err error)
	say     func(ctx context.Context, user, run, state, answer, reason string) error

	mu   sync.Mutex
	last map[string]*latest // of one user, or with "" of everybody; guarded by mu, with what it leads to
}

// latest are runs as they were seen last, as runs list --json prints them.
type latest struct {
	at      time.Time
	looking bool
	all     []json.RawMessage
}

// follow gives the runs that a viewer may see, again and again, until ctx ends.
func (r *runs) follow(ctx context.Context, q *page.Query, kept chan<- []json.RawMessage) {
	tick := time.NewTicker(runsPeriod)
	defer tick.Stop()
	for {
		select {
		case kept <- r.look(ctx, q):
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
func (r *runs) look(ctx context.Context, q *page.Query) []json.RawMessage {
	whom := q.Name
	if q.Admin {
		whom = ""
	}
	if !r.may(q.Principal) {
		return []json.RawMessage{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(r.last, func(_ string, l *latest) bool { return !l.looking && now.Sub(l.at) > 10*runsPeriod }) // nobody looks any more
	last := r.last[whom]
	if last == nil {
		last = &latest{all: []json.RawMessage{}}
		r.last[whom] = last
	}
	if last.looking || now.Sub(last.at) <= runsPeriod/2 {
		return last.all
	}
	last.at, last.looking = now, true
	r.mu.Unlock()
	var all []json.RawMessage
	text, err := r.run.json(ctx, whose(q, "runs", "list", "--json", "--limit="+mostKept)...)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	r.mu.Lock()
	last.looking = false
	if err == nil {
		last.all = all
	}
	return last.all
}

// may reports whether somebody may see runs, which belong to no toolbox: with a token that is limited to toolboxes, if
// one of them has a server of workflows.
func (r *runs) may(who principal.Principal) bool {
	return !isLimited(who) || r.of(who)
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
	if !r.may(q.Principal) {
		return nil, errors.New("this token may use no toolbox with workflows")
	}
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
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, last := range r.last { // which are looked at anew
			last.at = last.at.Add(-runsPeriod)
		}
	}()
	return nil, r.say(ctx, a.User, a.ID, a.State, a.Answer, a.Reason)
}
