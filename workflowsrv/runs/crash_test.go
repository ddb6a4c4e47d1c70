package runs_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

// round has a rule, a loop, a step that calls a tool which must not be called twice, one that waits for a request, and
// one that begins two runs of side, each of which calls that tool.
const (
	round = `{"id":"round","name":"Round","description":"d","version":"1.0.0","steps":[
{"id":"one","title":"One","prompt":"p"},
{"id":"two","title":"Two","prompt":"p","validationCriteria":[{"type":"contains","value":"done","message":"m"}]},
{"id":"each","type":"loop","title":"Each","loop":{"type":"forEach","items":"list","maxIterations":9},"body":[{"id":"item","title":"Item","prompt":"p"}]},
{"id":"act","type":"tool","title":"Act","tool":"box/server/append","arguments":{"line":"{{mark}}"},"result":"written"},
{"id":"hear","type":"wait","title":"Hear","webhook":true,"result":"heard"},
{"id":"both","type":"parallel","title":"Both","parallelDelegations":[
 {"workflowId":"side","args":{"name":"left"},"contextMapping":{"mark":"mark"}},{"workflowId":"side","args":{"name":"right"},"contextMapping":{"mark":"mark"}}]},
{"id":"end","title":"End","prompt":"p"}]}`
	side = `{"id":"side","name":"Side","description":"d","version":"1.0.0","steps":[
{"id":"call","type":"tool","title":"Call","tool":"box/server/append","arguments":{"line":"{{mark}} {{name}}"},"result":"written"},
{"id":"work","title":"Work","prompt":"p"}]}`
	roundSteps, sideSteps = 9, 2
)

// openPlace opens where runs are kept: a file, or "postgres:" and a connection string.
func openPlace(ctx context.Context, place string) (*store.Store, error) {
	warn := func(err error) { fmt.Fprintln(os.Stderr, "warning:", err) }
	if dsn, ok := strings.CutPrefix(place, "postgres:"); ok {
		return store.OpenPostgres(ctx, dsn, warn, store.Options{})
	}
	return store.OpenSQLite(ctx, place, warn, store.Options{})
}

// crew is an engine on a log, whose tool appends to a file, and which has a run to itself for so long while it calls
// that.
func crew(log runs.Log, lines string, hold time.Duration) *runs.Engine {
	find, err := find(round, side)
	if err != nil {
		panic(err)
	}
	return runs.NewEngine(runs.Options{Find: find, Log: func(context.Context) (runs.Log, error) { return log, nil }, Tools: appender(lines),
		Gateway: "https://hooks.example"}.Holding(hold).Patient(time.Nanosecond))
}

const (
	shortly = 100 * time.Millisecond
	usually = 0
)

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

// A mortal log ends at one of its writes: at an odd one before that is kept, at an even one after.
type mortal struct {
	runs.Log
	writes atomic.Int64
	last   int64
	end    func() error
}

func (m *mortal) write(do func() error) error {
	n := m.writes.Add(2)
	if n-1 == m.last {
		return m.end()
	}
	err := do()
	if n == m.last {
		return m.end()
	}
	return err
}

// killed ends this process as kill -9 does.
func killed() error {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill()
	}
	select {}
}

// StartRun implements runs.Log.
func (m *mortal) StartRun(ctx context.Context, principal string, r store.Run, definition []byte, events ...json.RawMessage) error {
	return m.write(func() error { return m.Log.StartRun(ctx, principal, r, definition, events...) })
}

// ChangeRun implements runs.Log.
func (m *mortal) ChangeRun(ctx context.Context, principal, id string, c store.RunChange) error {
	return m.write(func() error { return m.Log.ChangeRun(ctx, principal, id, c) })
}

// play is this program as another process of a test: with the place of the runs, the file of the tool, and either at
// which write it is to be killed, or which run to walk.
func play(role string) error {
	part := strings.Split(role, "\n")
	log, err := openPlace(context.Background(), part[0])
	if err != nil {
		return err
	}
	last, err := strconv.ParseInt(part[2], 10, 64)
	if err != nil {
		w := walker{e: crew(log, part[1], usually), shared: true, name: part[3]}
		if err := w.goOn(part[2]); err != nil {
			return err
		}
		return log.Close()
	}
	w := walker{e: crew(&mortal{Log: log, last: last, end: killed}, part[1], shortly), heard: func(run string, d told) { fmt.Println(run, d.Event, d.Done, d.State) }}
	failed := make(chan error)
	for range 4 {
		go func() {
			for {
				a, err := w.start()
				if err = w.walk("", a, err); err != nil {
					failed <- err
				}
			}
		}()
	}
	return <-failed
}

// other is this program in that part.
func other(t testing.TB, place, lines, what, name string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+strings.Join([]string{place, lines, what, name}, "\n"), "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	return cmd
}

// A walker does what the answers about a run say, up to its end.
type walker struct {
	e      *runs.Engine
	name   string
	shared bool                           // others walk the same run, or the disk is full at times
	heard  func(run string, d told)       // what was told; "sent" is the state of a request that was taken
	person func(run string) (bool, error) // answers, and reports whether there was a question
}

func (w walker) who() runs.Caller { return runs.Caller{Principal: "alice", Client: "walker" + w.name} }

func (w walker) start() (runs.Answer, error) {
	return w.e.Start(context.Background(), w.who(), "round", "walk", json.RawMessage(`{"list":[1,2,3],"mark":"`+store.NewID()+`"}`))
}

// goOn walks a run that there is.
func (w walker) goOn(run string) error {
	a, err := w.e.Next(context.Background(), w.who(), runs.Step{Run: run})
	return w.walk(run, a, err)
}

func (w walker) walk(run string, a runs.Answer, err error) error {
	ctx := context.Background()
	for began := time.Now(); time.Since(began) < 2*time.Minute; {
		next := runs.Step{Run: run}
		if err != nil {
			if !w.shared || !strings.Contains(err.Error(), "somebody else") && !strings.Contains(err.Error(), "not the next one") && !errors.Is(err, errFull) {
				return fmt.Errorf("run %s: %w", run, err)
			}
			a, err = w.e.Next(ctx, w.who(), next)
			continue
		}
		d, bad := read(a)
		if bad != nil {
			return bad
		}
		if w.heard != nil {
			w.heard(d.Run, d)
		}
		run, next.Run = d.Run, d.Run
		switch {
		case d.IsComplete:
			return nil
		case d.State == "waiting": // for a request, or for the call that another one makes
			if _, path, ok := strings.Cut(a.Text, runs.HookPath); ok {
				path, _, _ = strings.Cut(path, ". ")
				taken, err := w.e.Hook(ctx, path, []byte(`"`+d.Run+`"`))
				if err != nil && !w.shared {
					return err
				}
				if taken && w.heard != nil {
					w.heard(d.Run, told{State: "sent"})
				}
			} else {
				time.Sleep(5 * time.Millisecond)
			}
		case d.State == "runs":
			for _, c := range d.Runs {
				if err := w.goOn(c.Run); err != nil {
					return err
				}
			}
		case d.State == "person" && w.person != nil:
			if ok, err := w.person(d.Run); !ok || err != nil {
				return fmt.Errorf("run %s: got no question and %v, want one: %s", d.Run, err, a.Text)
			}
		case d.State == "step":
			next.ID, next.Output = d.Step.ID, "done "+d.Step.ID
			if d.Loop != nil {
				next.ID += "#" + strconv.Itoa(d.Loop.Iteration)
				next.Output = "done " + next.ID
			}
		default:
			return fmt.Errorf("run %s: got %s, want a step", d.Run, a.Text)
		}
		a, err = w.e.Next(ctx, w.who(), next)
	}
	return fmt.Errorf("run %s has no end", run)
}

// atLength says that there is time to try everything.
func atLength() bool { return os.Getenv("WORKBENCH_CHAOS") != "" }

// where runs a test on both databases.
func where(t *testing.T, test func(t *testing.T, place string)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, filepath.Join(t.TempDir(), "runs.db"))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, "postgres:"+server.Database(t))
	})
}

// A program that is killed at any write loses no answer that it gave and no request that it took.
func TestKilledAtWrites(t *testing.T) {
	t.Parallel()
	where(t, func(t *testing.T, place string) {
		saw := newWitness(t, place)
		times, at := 3, func(int) int { return 1 + rand.N(100) }
		if atLength() {
			times, at = 300, func(i int) int { return i + 1 }
		}
		for i := range times {
			cmd := other(t, place, saw.lines, strconv.Itoa(at(i)), "")
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			saw.hears(out, nil)
			if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
				t.Fatalf("got %v, want it killed", err)
			}
		}
		saw.walksAll()
	})
}

// A witness knows what was told of runs before what keeps them, or goes on with them, was ended.
type witness struct {
	t            *testing.T
	place, lines string
	ends         int
	last         map[string][2]int // events and steps of each run
	sent         map[string]bool   // to which a request was taken
}

func newWitness(t *testing.T, place string) *witness {
	return &witness{t: t, place: place, lines: filepath.Join(t.TempDir(), "lines"), last: map[string][2]int{}, sent: map[string]bool{}}
}

// hears takes what play says, to its end; heard is called after each word.
func (s *witness) hears(out io.Reader, heard func()) {
	s.t.Helper()
	for in := bufio.NewScanner(out); in.Scan(); {
		var run, state string
		var events, done int
		if _, err := fmt.Sscanf(in.Text(), "%s %d %d %s", &run, &events, &done, &state); err != nil {
			s.t.Fatalf("%q: %v", in.Text(), err)
		}
		s.last[run] = [2]int{max(events, s.last[run][0]), max(done, s.last[run][1])}
		if state == "sent" {
			s.sent[run] = true
		}
		if heard != nil {
			heard()
		}
	}
	s.ends++
}

// walksAll wants all that was told to be there, and walks every run to its end with each step done once. Of calls that
// may have been made a person is asked, and of no others.
func (s *witness) walksAll() {
	t, lines, last, sent := s.t, s.lines, s.last, s.sent
	t.Helper()
	log, err := openPlace(t.Context(), s.place)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	list, err := log.Runs(t.Context(), "alice", 1_000_000)
	if err != nil || len(list) < len(last) {
		t.Fatalf("got %d runs and %v, want the %d that were told of", len(list), err, len(last))
	}
	unknown, asked := map[string]bool{}, map[string]bool{}
	for _, kept := range list {
		r := opened(t, log, kept.ID)
		if was := last[r.ID]; len(r.Events) < was[0] || r.Done < was[1] {
			t.Errorf("run %s: got %d events and %d steps, want the %d and %d that were told", r.ID, len(r.Events), r.Done, was[0], was[1])
		}
		end := r.Events[len(r.Events)-1]
		unknown[r.ID] = end.Kind == runs.Intended && end.Tool != ""
		if heard := stepsOf(r)["hear"]; sent[r.ID] && heard != 1 {
			t.Errorf("run %s: the request was taken and is done %d times, want once", r.ID, heard)
		}
	}
	w := walker{e: crew(log, lines, shortly)}
	var mu sync.Mutex // guards asked
	w.person = func(run string) (bool, error) {
		question, _, err := w.e.Pending(t.Context(), "alice", run)
		mu.Lock()
		asked[run] = true
		mu.Unlock()
		if err == nil {
			_, err = w.e.Say(t.Context(), "alice", runs.Opinion{Run: run, Answer: answerOf(lines, question.Message), How: "test"})
		}
		return strings.Contains(question.Message, "nobody knows"), err
	}
	var all errgroup.Group
	all.SetLimit(16)
	for _, r := range list {
		if r.Workflow == "round" { // The others are walked with those that have begun them.
			all.Go(func() error { return w.goOn(r.ID) })
		}
	}
	if err := all.Wait(); err != nil {
		t.Error(err)
	}
	made, err := os.ReadFile(lines)
	if err != nil {
		t.Fatal(err)
	}
	if list, err = log.Runs(t.Context(), "alice", 1_000_000); err != nil {
		t.Fatal(err)
	}
	began, unknowns := map[string]int{}, 0
	for _, kept := range list {
		r := opened(t, log, kept.ID)
		began[r.Events[0].From]++
		want := map[string]int{"one": 1, "two": 1, "item": 3, "act": 1, "hear": 1, "both": 1, "end": 1}
		if r.Workflow == "side" {
			want = map[string]int{"call": 1, "work": 1}
		}
		if got := stepsOf(r); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("run %s: got the steps %v, want %v", r.ID, got, want)
		}
		for _, e := range r.Events {
			if e.Kind == runs.Intended && e.Tool != "" && strings.Count(string(made), string(e.Arguments)+"\n") != 1 {
				t.Errorf("run %s: got %d calls with %s, want one", r.ID, strings.Count(string(made), string(e.Arguments)+"\n"), e.Arguments)
			}
		}
		if asked[r.ID] != unknown[r.ID] {
			t.Errorf("run %s: a person was asked: %v; a call was left open: %v", r.ID, asked[r.ID], unknown[r.ID])
		}
		if unknown[r.ID] {
			unknowns++
		}
	}
	for _, r := range list {
		if want := map[string]int{"round": 2}[r.Workflow]; began[r.ID] != want {
			t.Errorf("run %s of %s: got %d runs begun, want %d", r.ID, r.Workflow, began[r.ID], want)
		}
	}
	t.Logf("%d kills, %d runs, %d of them told of, %d requests taken, %d calls of which nobody knew, %d calls made",
		s.ends, len(list), len(last), len(sent), unknowns, strings.Count(string(made), "\n"))
}

// errFull is what a write fails with.
var errFull = errors.New("the disk is full")

// Whichever write fails, before it was kept or after, the run goes on from what is kept, and each step is done once.
func TestEachWriteFails(t *testing.T) {
	t.Parallel()
	for last := int64(1); ; last++ {
		lines := filepath.Join(t.TempDir(), "lines")
		memory := runs.NewMemory()
		log := &mortal{Log: memory, last: last, end: func() error { return errFull }}
		w := walker{e: crew(log, lines, shortly), shared: true}
		w.person = func(run string) (bool, error) {
			question, _, err := w.e.Pending(t.Context(), "alice", run)
			if err == nil {
				_, err = w.e.Say(t.Context(), "alice", runs.Opinion{Run: run, Answer: answerOf(lines, question.Message), How: "test"})
			}
			return strings.Contains(question.Message, "nobody knows"), err
		}
		a, err := w.start()
		run := ""
		if list, bad := memory.Runs(t.Context(), "alice", 1); err != nil && len(list) > 0 {
			run, err = list[0].ID, bad
		} else if err != nil {
			a, err = w.start()
		}
		if run != "" {
			err = w.goOn(run)
		} else {
			err = w.walk("", a, err)
		}
		if err != nil {
			t.Errorf("write %d: %v", last, err)
		}
		list, err := memory.Runs(t.Context(), "alice", 10)
		if err != nil || len(list) != 3 {
			t.Fatalf("write %d: got %d runs and %v, want 3", last, len(list), err)
		}
		done := 0
		for _, r := range list {
			for step, n := range stepsOf(opened(t, memory, r.ID)) {
				if done += n; n != 1 && step != "item" {
					t.Errorf("write %d: got %s %d times", last, step, n)
				}
			}
		}
		if made, err := os.ReadFile(lines); err != nil || strings.Count(string(made), "\n") != 3 || done != roundSteps+2*sideSteps {
			t.Errorf("write %d: got %d steps, %q and %v, want %d and three calls", last, done, made, err, roundSteps+2*sideSteps)
		}
		if log.writes.Load() < last {
			return
		}
	}
}

// answerOf is what a person answers who looks whether the call in a question was made.
func answerOf(lines, question string) string {
	if made, err := os.ReadFile(lines); err == nil && strings.Contains(string(made), lineIn(question)+"\n") {
		return "done"
	}
	return "again"
}

// opened reads a run of alice.
func opened(t *testing.T, log runs.Log, id string) *runs.Run {
	t.Helper()
	kept, events, err := log.Run(t.Context(), "alice", id, 0)
	if err != nil {
		t.Fatal(err)
	}
	r, err := runs.Open(kept, events)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// stepsOf counts how often each step was done.
func stepsOf(r *runs.Run) map[string]int {
	done := map[string]int{}
	for _, e := range r.Events {
		if e.Kind == runs.Done {
			done[e.Step]++
		}
	}
	return done
}

// lineIn is what the arguments in a question have.
func lineIn(question string) string {
	_, rest, _ := strings.Cut(question, `{"line":"`)
	line, _, _ := strings.Cut(rest, `"`)
	return `{"line":"` + line + `"}`
}

// Of eight processes that go on with one run, each step is done by one, and the others are told so.
func TestSeveralOnOneRun(t *testing.T) {
	t.Parallel()
	where(t, func(t *testing.T, place string) {
		if strings.HasPrefix(place, "postgres:") && !atLength() {
			t.Skip("eight processes share a file at all times, and a server at length")
		}
		lines := filepath.Join(t.TempDir(), "lines")
		log, err := openPlace(t.Context(), place)
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		a, err := walker{e: crew(log, lines, usually)}.start()
		if err != nil {
			t.Fatal(err)
		}
		first, err := read(a)
		if err != nil {
			t.Fatal(err)
		}
		var all []*exec.Cmd
		for i := range 8 {
			cmd := other(t, place, lines, first.Run, strconv.Itoa(i))
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			all = append(all, cmd)
		}
		for _, cmd := range all {
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		}
		r := opened(t, log, first.Run)
		done := ""
		for _, e := range r.Events {
			if e.Kind != runs.Done {
				continue
			}
			done += fmt.Sprintf("%s%d ", e.Step, e.Pass)
			if want := fmt.Sprintf("done item#%d", e.Pass); e.Step == "item" && e.Output != want {
				t.Errorf("got %q of pass %d, want %q", e.Output, e.Pass, want)
			}
		}
		if done != "one0 two0 item1 item2 item3 act0 hear0 both0 end0 " || r.Status != runs.StatusFinished {
			t.Errorf("got %s and %s, want each step once and in order", done, r.Status)
		}
		if made, err := os.ReadFile(lines); err != nil || strings.Count(string(made), "\n") != 3 {
			t.Errorf("got %q and %v, want three calls of the tool", made, err)
		}
	})
}
