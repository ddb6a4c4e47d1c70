package stepping_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/stepping"
)

var update = flag.Bool("update", false, "rewrite what the archives say is answered")

// A walk is a caller of Next that does what it is told.
type walk struct {
	w       *definition.Workflow
	request stepping.Request
	last    stepping.Answer
}

// A move is a line of a session: what the caller does before it asks again.
type move struct {
	Done    []string       `json:"done"`    // adds to the completed steps
	Undo    []string       `json:"undo"`    // takes from them
	Set     map[string]any `json:"set"`     // sets variables, null removes one
	State   *string        `json:"state"`   // instead of the one of the last answer
	Lenient bool           `json:"lenient"` // conditions compare leniently from here
}

func (w *walk) next(m move) (stepping.Answer, error) {
	r := &w.request
	r.Completed = append(r.Completed, m.Done...)
	r.Completed = slices.DeleteFunc(r.Completed, func(id string) bool { return slices.Contains(m.Undo, id) })
	if r.Context == nil {
		r.Context = map[string]any{}
	}
	maps.Copy(r.Context, m.Set)
	r.State = w.last.State
	if m.State != nil {
		r.State = *m.State
	}
	if m.Lenient {
		r.Mode = criteria.Lenient
	}
	a, err := stepping.Next(context.Background(), w.w, *r)
	if err == nil {
		w.last = a
	}
	return a, err
}

// TestSessions runs the sessions in testdata: a workflow and lines that begin with ">", each followed by what is
// answered. go test -update writes that.
func TestSessions(t *testing.T) {
	for file, archive := range sessions(t) {
		w := parse(t, archive.Files[0].Name, archive.Files[0].Data)
		for i := range archive.Files[1:] {
			session := &archive.Files[i+1]
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar")+"/"+session.Name, func(t *testing.T) {
				got := replay(t, w, session.Data)
				if *update {
					session.Data = []byte(got)
				} else if got != string(session.Data) {
					t.Errorf("got\n%swant\n%s", got, session.Data)
				}
			})
		}
		if *update {
			if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// sessions reads the archives in testdata, by file name.
func sessions(t testing.TB) map[string]*txtar.Archive {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sessions: %v", err)
	}
	archives := map[string]*txtar.Archive{}
	for _, file := range files {
		if archives[file], err = txtar.ParseFile(file); err != nil {
			t.Fatal(err)
		}
	}
	return archives
}

func parse(t testing.TB, name string, data []byte) *definition.Workflow {
	t.Helper()
	w, err := definition.Parse(name, data)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func replay(t *testing.T, w *definition.Workflow, session []byte) string {
	t.Helper()
	var b strings.Builder
	caller := &walk{w: w}
	for line := range strings.Lines(string(session)) {
		call, ok := strings.CutPrefix(line, ">")
		if !ok {
			continue
		}
		b.WriteString(line)
		dec := json.NewDecoder(strings.NewReader(call))
		dec.UseNumber()
		var m move
		if err := dec.Decode(&m); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		a, err := caller.next(m)
		describe(&b, a, err)
	}
	return b.String()
}

// describe writes what an answer says, without the state.
func describe(b *strings.Builder, a stepping.Answer, err error) {
	for _, warning := range a.Warnings {
		fmt.Fprintf(b, "warning %s\n", warning)
	}
	switch {
	case err != nil:
		fmt.Fprintf(b, "error %v\n", err)
		return
	case a.IsComplete:
		fmt.Fprintf(b, "complete\n")
		return
	case a.Step == nil:
		b.WriteString("missing")
		for _, m := range a.Missing {
			fmt.Fprintf(b, " %s", asJSON(m))
		}
		b.WriteByte('\n')
	default:
		b.WriteString(a.Step.ID)
		if a.Loop != nil {
			fmt.Fprintf(b, " in %s %d", a.Loop.ID, a.Loop.Iteration)
			if a.Loop.Total != nil {
				fmt.Fprintf(b, " of %d", *a.Loop.Total)
			}
			fmt.Fprintf(b, " %s", asJSON(a.Loop.Variables))
		}
		if a.RequiresConfirmation {
			b.WriteString(" confirm")
		}
		if a.ModelHint != "" {
			b.WriteString(" " + a.ModelHint)
		}
		if len(a.ValidationCriteria) > 0 {
			fmt.Fprintf(b, " criteria %q", a.ValidationCriteria)
		}
		b.WriteByte('\n')
	}
	for _, m := range a.Waiting {
		fmt.Fprintf(b, "waiting %s\n", asJSON(m))
	}
	for line := range strings.Lines(a.Text()) {
		b.WriteString("    | " + strings.TrimSuffix(line, "\n") + "\n")
	}
}

func asJSON(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err.Error()
	}
	return strings.TrimSpace(b.String())
}

func TestStateIsSealed(t *testing.T) {
	const text = "id: abc\nname: n\ndescription: d\nversion: 1.0.0\nsteps:\n" +
		"- {id: rounds, type: loop, title: t, loop: {type: for, count: 3, maxIterations: 5}, body: [{id: one, title: t, prompt: p}, {id: two, title: t, prompt: p}]}\n"
	w := parse(t, "w.yaml", []byte(text))
	other := parse(t, "w.yaml", []byte(strings.Replace(text, "id: abc", "id: xyz", 1)))
	changed := parse(t, "w.yaml", []byte(strings.Replace(text, "id: rounds", "id: laps", 1)))
	another := parse(t, "w.yaml", []byte(strings.ReplaceAll(strings.ReplaceAll(text, "id: one", "id: eins"), "id: two", "id: zwei")))
	first, err := stepping.Next(t.Context(), w, stepping.Request{})
	if err != nil {
		t.Fatal(err)
	}
	second, err := stepping.Next(t.Context(), w, stepping.Request{State: first.State})
	if err != nil {
		t.Fatal(err)
	}
	if again, err := stepping.Next(t.Context(), w, stepping.Request{State: first.State}); err != nil || again.Step != second.Step || again.State != second.State {
		t.Errorf("the same state again: got %v %v, want the same answer", again.Step, err)
	}
	for _, c := range []struct {
		name  string
		w     *definition.Workflow
		state string
		want  string
	}{
		{"no state at all", w, "next", "not a state that workflow_next has returned"},
		{"cut", w, second.State[:len(second.State)-1], "damaged"},
		{"altered", w, strings.Replace(second.State, "s2.e", "s2.f", 1), "damaged"},
		{"another version", w, "s9" + second.State[2:], "not a state"},
		{"of another workflow", other, second.State, "of another workflow"},
		{"the loop is gone", changed, second.State, `no loop "rounds"`},
		{"the steps are others", another, first.State, "has changed since"},
		{"long", w, strings.Repeat("x.", 1_000_000), "not a state"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := stepping.Next(t.Context(), c.w, stepping.Request{State: c.state})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

// TestLongValues makes sure that prompts stay short however long the values are that they name.
func TestLongValues(t *testing.T) {
	guidance := strings.Repeat(`"{{a}}{{b}}",`, 5000)
	w := parse(t, "w.json", []byte(`{"id":"long-values","name":"n","description":"d","version":"1.0.0","steps":[{"id":"one","title":"t","prompt":"{{a}} {{b}} {{c.d}}","guidance":[`+
		strings.TrimSuffix(guidance, ",")+`]}]}`))
	a, err := stepping.Next(t.Context(), w, stepping.Request{Context: map[string]any{
		"a": strings.Repeat("x", 1<<20), "b": strings.Repeat("y", 4000), "c": map[string]any{"d": "short"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if want := "{{a}} " + strings.Repeat("y", 4000) + " short"; !strings.HasSuffix(a.Prompt, want) {
		t.Errorf("got a prompt that ends in %.100q, want {{a}}, then the value of b, then short", a.Prompt[len(a.Prompt)-4100:])
	}
	if len(a.Prompt) > 200_000 {
		t.Errorf("got a prompt of %d bytes, want one without the long values", len(a.Prompt))
	}
}

// A name that ends with a dot names no field, not even the one whose name is empty.
func TestTrailingDot(t *testing.T) {
	w := parse(t, "w.json", []byte(`{"id":"dots","name":"n","description":"d","version":"1.0.0","steps":[{"id":"one","title":"t","prompt":"{{a.}} {{a.b.}} {{a..c}} {{a.b.c}}"}]}`))
	a, err := stepping.Next(t.Context(), w, stepping.Request{Context: map[string]any{
		"a": map[string]any{"": map[string]any{"c": "empty"}, "b": map[string]any{"": "e", "c": "full"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if want := "{{a.}} {{a.b.}} empty full"; !strings.HasSuffix(a.Prompt, want) {
		t.Errorf("got %q, want it to end with %q", a.Prompt, want)
	}
}
