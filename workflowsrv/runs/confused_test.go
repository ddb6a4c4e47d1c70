package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

// guarded calls tools that a person has to agree to, in a loop too, and waits for a request.
const guarded = `{"id":"guarded","name":"n","description":"d","version":"1.0.0","steps":[
{"id":"one","title":"One","prompt":"Set 'x'."},
{"id":"write","type":"tool","title":"W","tool":"b/s/write","arguments":{"x":"{{x}}"},"retries":1,"requireConfirmation":true},
{"id":"look","type":"tool","title":"L","tool":"b/s/look","arguments":{"x":"{{x}}"},"requireConfirmation":true},
{"id":"hook","type":"wait","title":"H","webhook":true,"timeoutSeconds":60,"result":"body","requireConfirmation":true},
{"id":"each","type":"loop","title":"E","loop":{"type":"forEach","items":"files","itemVar":"file","maxIterations":3},"body":[
{"id":"edit","type":"tool","title":"Ed","tool":"b/s/idem","arguments":{"f":"{{file}}"},"requireConfirmation":true}]},
{"id":"end","title":"End","prompt":"p"}]}`

// confused is a run with a tool server that fails in every way, a workbench that is killed, and a model that says whatever
// comes to its mind.
type confused struct {
	*rand.Rand
	hooks map[string]string // the last address that was told of each run
	runs  []string
	next  string // the step that the last answer was about
}

func (c *confused) CallTool(context.Context, string, string, string, json.RawMessage) (json.RawMessage, error) {
	switch c.Intn(7) {
	case 0:
		return nil, errors.New("gone")
	case 1:
		return nil, &runs.NotMadeError{Err: errors.New("not made")}
	case 2:
		runtime.Goexit() // as a process ends
	case 3:
		return json.RawMessage(`{"content":[],"isError":true}`), nil
	}
	return json.RawMessage(`{"content":[]}`), nil
}

func (c *confused) Hints(_ context.Context, _, _, tool string) (readOnly, idempotent bool) {
	return tool == "look", tool == "idem"
}

func (c *confused) pick(list ...string) string { return list[c.Intn(len(list))] }

// heard takes what an answer tells.
func (c *confused) heard(a runs.Answer, err error) {
	d, fault := read(a)
	if err != nil || fault != nil {
		return
	}
	if !slices.Contains(c.runs, d.Run) {
		c.runs = append(c.runs, d.Run)
	}
	_, rest, _ := strings.Cut(a.Text, `"step":"`)
	c.next, _, _ = strings.Cut(rest, `"`)
	if _, rest, ok := strings.Cut(a.Text, runs.HookPath); ok {
		c.hooks[d.Run], _, _ = strings.Cut(rest, ". ")
	}
}

// Whatever is said, in whatever order, by however many processes on one log, no call is made that a person has not agreed
// to as it is, last and once, and no request is lost that is sent to the address that was told last.
func TestConfused(t *testing.T) {
	find := finder(t, guarded)
	for seed := range int64(120) {
		synctest.Test(t, func(t *testing.T) {
			c := &confused{rand.New(rand.NewSource(seed)), map[string]string{}, nil, ""}
			log := runs.NewMemory()
			engine := func() *runs.Engine {
				return runs.NewEngine(runs.Options{Find: find, Tools: c, Gateway: "https://h.example", Log: func(context.Context) (runs.Log, error) { return log, nil }}.Holding(time.Millisecond))
			}
			engines := []*runs.Engine{engine(), engine()}
			who := runs.Caller{Principal: "alice", Client: "c"}
			c.heard(engines[0].Start(t.Context(), who, "guarded", "", json.RawMessage(`{"files":["f","g"]}`)))
			for range 120 {
				e, run, ended := engines[c.Intn(2)], c.runs[c.Intn(len(c.runs))], make(chan struct{})
				go func() {
					defer close(ended)
					switch c.Intn(10) {
					case 0, 1, 2:
						s := runs.Step{Run: run, ID: c.pick(c.next, c.next, "", "one", "write", "edit#1"), Notes: c.pick("did it", "")}
						if c.Intn(3) == 0 {
							s.Context = json.RawMessage(c.pick(`{"x":"a"}`, `{"x":"b"}`, `{"files":["f","h"]}`))
						}
						c.heard(e.Next(t.Context(), who, s))
					case 3, 4, 5:
						_, _ = e.Say(t.Context(), "alice", runs.Opinion{Run: run, Answer: c.pick("yes", "yes", "no", "again", "done"), How: "test"})
					case 6, 7:
						c.heard(e.Manage(t.Context(), who, runs.Order{Run: run, Action: c.pick("rewind", "rewind", "rewind", "fork"), To: 1 + c.Intn(30)}))
					default:
						time.Sleep(time.Duration(c.Intn(90)) * time.Second)
						r, err := e.Read(t.Context(), "alice", run)
						if address := c.hooks[run]; err == nil && r.Step == "hook" && address != "" && r.Events[len(r.Events)-1].Kind != runs.Rewound {
							if taken, err := e.Hook(t.Context(), address, []byte("{}")); (!taken || err != nil) && !rewoundSince(r) {
								t.Errorf("seed %d: got %v and %v for the address that run %s waits at", seed, taken, err, run)
							}
						}
					}
				}()
				<-ended
				time.Sleep(2 * time.Millisecond) // longer than a run is held
			}
			for _, run := range c.runs {
				r, err := engines[0].Read(t.Context(), "alice", run)
				if err != nil {
					t.Fatal(err)
				}
				for i, call := range r.Events {
					if call.Kind == runs.Intended && call.Tool != "" && !agreedTo(r.Events[:i], call) {
						t.Errorf("seed %d: event %d of run %s calls %s with %s, which nobody has agreed to", seed, i+1, run, call.Tool, call.Arguments)
					}
				}
			}
		})
	}
}

// rewoundSince reports whether a run went back after the last time that it began to wait.
func rewoundSince(r *runs.Run) bool {
	for _, e := range slices.Backward(r.Events) {
		if e.Hook != "" || e.Kind == runs.Rewound || e.Kind == runs.Forked {
			return e.Hook == ""
		}
	}
	return true
}

// agreedTo reports whether the last that a person said about the step of a call is that this call may be made, and the
// step was not done since.
func agreedTo(before []runs.Event, call runs.Event) bool {
	for _, e := range slices.Backward(before) {
		switch {
		case e.Step != call.Step || e.Pass != call.Pass:
		case e.Kind == runs.Done:
			return false
		case e.Kind == runs.Answered:
			return (e.Answer == "yes" || e.Answer == "again") && e.Digest == store.Digest(call.Arguments)
		}
	}
	return false
}
