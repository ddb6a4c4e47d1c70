package runs_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

// round has a rule, a loop, and a step that calls a tool which must not be called twice.
const round = `{"id":"round","name":"Round","description":"d","version":"1.0.0","steps":[
{"id":"one","title":"One","prompt":"p"},
{"id":"two","title":"Two","prompt":"p","validationCriteria":[{"type":"contains","value":"done","message":"m"}]},
{"id":"each","type":"loop","title":"Each","loop":{"type":"forEach","items":"list","maxIterations":9},"body":[{"id":"item","title":"Item","prompt":"p"}]},
{"id":"act","type":"tool","title":"Act","tool":"box/server/append","arguments":{"line":"{{mark}}"},"result":"written"},
{"id":"end","title":"End","prompt":"p"}]}`

// walkForEver walks runs, four at a time, and prints what it was told after it was told it.
func walkForEver(path string) error {
	w, err := new(definition.Parser).Parse("w.json", []byte(round))
	if err != nil {
		return err
	}
	find := func(string) (*definition.Entry, error) { return &definition.Entry{Workflow: w}, nil }
	e := runs.NewEngine(runs.Options{Find: find, Log: in(path), Tools: appender(path + ".lines")}.Holding(100 * time.Millisecond))
	failed := make(chan error)
	for range 4 {
		go func() {
			for {
				if err := walk(e, func(d told) { fmt.Printf("%s %d %d\n", d.Run, d.Event, d.Done) }); err != nil {
					failed <- err
				}
			}
		}()
	}
	return <-failed
}

// An appender has one tool, which appends a line to the file of that name and answers after a while.
type appender string

func (a appender) CallTool(_ context.Context, _, _, _ string, arguments json.RawMessage) (json.RawMessage, error) {
	f, err := os.OpenFile(string(a), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	_, err = f.WriteString(string(arguments) + "\n")
	time.Sleep(rand.N(10 * time.Millisecond)) // for the kill to come in between
	return json.RawMessage(`{"content":[{"type":"text","text":"written"}]}`), err
}

func (appender) Hints(context.Context, string, string, string) (readOnly, idempotent bool) {
	return false, false
}

// walk walks one run to its end.
func walk(e *runs.Engine, heard func(told)) error {
	who := runs.Caller{Principal: "alice", Client: "walker"}
	a, err := e.Start(context.Background(), who, "round", "walk", json.RawMessage(`{"list":[1,2,3],"mark":"`+store.NewID()+`"}`))
	for n := 0; err == nil; n++ {
		d, bad := read(a)
		if bad != nil {
			return bad
		}
		heard(d)
		if d.IsComplete || d.Step == nil {
			return nil
		}
		a, err = e.Next(context.Background(), who, runs.Step{Run: d.Run, ID: d.Step.ID, Output: fmt.Sprint("done ", n)})
	}
	return err
}

// A program that is killed at any time loses no answer that it gave, and every run that it left can be walked to its end.
func TestKilledAtWrites(t *testing.T) {
	times := 4
	if os.Getenv("WORKBENCH_CHAOS") != "" {
		times = 300
	}
	path := filepath.Join(t.TempDir(), "runs.db")
	last := map[string][2]int{} // events and steps of each run, as they were told
	for range times {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), roleVariable+"="+path, "GORACE=atexit_sleep_ms=0")
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for kill := 20 + rand.N(60); lines.Scan(); kill-- {
			var run string
			var events, done int
			if _, err := fmt.Sscanf(lines.Text(), "%s %d %d", &run, &events, &done); err != nil {
				t.Fatalf("%q: %v", lines.Text(), err)
			}
			last[run] = [2]int{events, done}
			if kill == 0 {
				time.AfterFunc(rand.N(3*time.Millisecond), func() { _ = cmd.Process.Kill() })
			}
		}
		_ = cmd.Wait() // It was killed.
	}
	log, err := in(path)(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer log.(*store.Store).Close()
	e := runs.NewEngine(runs.Options{Find: finder(t, round), Log: func(context.Context) (runs.Log, error) { return log, nil },
		Tools: appender(path + ".lines")}.Holding(100 * time.Millisecond))
	unknown := 0
	list, err := log.Runs(t.Context(), "alice", 1_000_000)
	if err != nil || len(list) < len(last) {
		t.Fatalf("got %d runs and %v, want the %d that were told of", len(list), err, len(last))
	}
	for _, r := range list {
		var head runs.Head
		if err := json.Unmarshal(r.Head, &head); err != nil {
			t.Fatal(err)
		}
		if was := last[r.ID]; r.Events < was[0] || head.Done < was[1] {
			t.Errorf("run %s: got %d events and %d steps, want the %d and %d that were told", r.ID, r.Events, head.Done, was[0], was[1])
		}
		who := runs.Caller{Principal: "alice"}
		a, err := e.Next(t.Context(), who, runs.Step{Run: r.ID})
		for n := 0; err == nil; n++ {
			d, bad := read(a)
			if bad != nil || n > 20 {
				t.Fatalf("run %s: got %s and %v after %d calls, want an end", r.ID, a.Data, bad, n)
			}
			if d.IsComplete {
				if d.Done != 7 {
					t.Errorf("run %s: got %d steps, want each of the 7 once", r.ID, d.Done)
				}
				break
			}
			if d.State == "waiting" { // until it shows that nobody makes the call any more
				n--
				a, err = e.Next(t.Context(), who, runs.Step{Run: r.ID})
				continue
			}
			if d.State == "person" { // who looks, and says what was done
				unknown++
				question, _, bad := e.Pending(t.Context(), "alice", r.ID)
				if bad != nil {
					t.Fatal(bad)
				}
				answer := "again"
				if lines, err := os.ReadFile(path + ".lines"); err == nil && strings.Contains(string(lines), markIn(t, question)) {
					answer = "done"
				}
				if _, err := e.Say(t.Context(), "alice", runs.Opinion{Run: r.ID, Answer: answer, How: "test"}); err != nil {
					t.Fatal(err)
				}
				a, err = e.Next(t.Context(), who, runs.Step{Run: r.ID})
				continue
			}
			a, err = e.Next(t.Context(), who, runs.Step{Run: r.ID, ID: d.Step.ID, Output: fmt.Sprint("done again ", n)})
		}
		if err != nil {
			t.Errorf("run %s: %v", r.ID, err)
		}
	}
	lines, err := os.ReadFile(path + ".lines")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(lines), "\n"); n != len(list) {
		t.Errorf("got %d calls of the tool in %d runs, want one in each", n, len(list))
	}
	t.Logf("%d kills, %d runs, %d of them told of, %d with a call of which nobody knew", times, len(list), len(last), unknown)
}

// markIn is what the arguments in a question have.
func markIn(t *testing.T, question string) string {
	t.Helper()
	_, rest, ok := strings.Cut(question, `{"line":"`)
	mark, _, closed := strings.Cut(rest, `"`)
	if !ok || !closed {
		t.Fatalf("got the question %q, want the arguments in it", question)
	}
	return mark
}

// Of several processes that go on with one run, each step is done by one, and the others are told so.
func TestSeveralOnOneRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	var engines []*runs.Engine
	for range 8 {
		log, err := in(path)(t.Context()) // a connection of its own, as another process has
		if err != nil {
			t.Fatal(err)
		}
		defer log.(*store.Store).Close()
		engines = append(engines, runs.NewEngine(runs.Options{Find: finder(t, round), Log: func(context.Context) (runs.Log, error) { return log, nil }, Tools: appender(path + ".lines")}))
	}
	who := runs.Caller{Principal: "alice", Client: "walker"}
	a, err := engines[0].Start(t.Context(), who, "round", "", json.RawMessage(`{"list":[1,2,3],"mark":"m"}`))
	if err != nil {
		t.Fatal(err)
	}
	first, err := read(a)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i, e := range engines {
		all.Go(func() {
			for n := 0; ; n++ {
				a, err := e.Next(context.Background(), who, runs.Step{Run: first.Run})
				d, bad := read(a)
				if err != nil || bad != nil {
					if !strings.Contains(fmt.Sprint(err), "somebody else") { // The end is kept by one of them.
						t.Errorf("got %v and %v", err, bad)
						return
					}
					continue
				}
				if d.IsComplete {
					return
				}
				if d.State == "waiting" { // for the call that another one makes
					continue
				}
				_, err = e.Next(context.Background(), who, runs.Step{Run: first.Run, ID: d.Step.ID, Output: fmt.Sprintf("done by %d, %d", i, n)})
				if err != nil && !strings.Contains(err.Error(), "somebody else") && !strings.Contains(err.Error(), "not the next one") {
					t.Errorf("got %v, want to be told that somebody else has gone on", err)
					return
				}
			}
		})
	}
	all.Wait()
	log, _ := in(path)(t.Context())
	defer log.(*store.Store).Close()
	kept, events, err := log.Run(t.Context(), "alice", first.Run, 0)
	if err != nil {
		t.Fatal(err)
	}
	r, err := runs.Open(kept, events)
	if err != nil {
		t.Fatal(err)
	}
	done := ""
	for _, e := range r.Events {
		if e.Kind == runs.Done {
			done += fmt.Sprintf("%s%d ", e.Step, e.Pass)
		}
	}
	if done != "one0 two0 item1 item2 item3 act0 end0 " {
		t.Errorf("got %s, want each step once and in order", done)
	}
	if lines, err := os.ReadFile(path + ".lines"); err != nil || string(lines) != `{"line":"m"}`+"\n" {
		t.Errorf("got %q and %v, want one call of the tool", lines, err)
	}
}
