package runs_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/library"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
	"github.com/mcp-workbench/workbench/workflowsrv/stepping"
)

var (
	newest = flag.String("newest", "", "run every workflow file below this `folder`, too")
	counts = flag.String("counts", "", "the steps that another system takes, an id and a number in each line of this `file`, to print beside ours")
)

// shared is the folder of material that tests read, beside the repository.
const shared = "../../../shared/workflows"

// Every workflow that is at hand comes to its end, in the order of its file, in four ways: variables are given so that
// conditions hold or not, and loops that an artifact decides are ended after a pass or not. Outputs and artifacts are
// those that an answer says would pass, and a person agrees where one is asked.
func TestFilesToTheEnd(t *testing.T) {
	stores := [][]definition.Source{{{Origin: definition.Embedded, FS: library.Files()}}}
	below := func(folder string) (sources []definition.Source) {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				sources = append(sources, definition.Source{Origin: definition.Config, Dir: path})
			}
			return err
		})
		if err != nil && folder != shared {
			t.Fatal(err)
		}
		return sources
	}
	for _, source := range below(shared) { // Its folders are versions of the same files.
		stores = append(stores, []definition.Source{source})
	}
	if *newest != "" {
		stores = append(stores, below(*newest))
	}
	theirs := map[string]string{}
	if *counts != "" {
		text, err := os.ReadFile(*counts)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			id, n, _ := strings.Cut(strings.TrimSpace(line), "\t")
			theirs[id] = n
		}
	}
	files, answers, said := 0, 0, 0
	for _, sources := range stores {
		catalogue := definition.NewStore(sources).Catalogue()
		find := func(id string) (*definition.Entry, error) {
			if e := catalogue.Entry(id); e != nil {
				return e, nil
			}
			return nil, fmt.Errorf("there is no workflow %s", id)
		}
		for _, e := range catalogue.Entries {
			files++
			t.Run(e.ID, func(t *testing.T) {
				if *newest != "" && strings.HasPrefix(e.File, *newest) {
					for _, w := range e.Warnings {
						// That no text mentions a variable is so, and for the author to see.
						if !strings.HasPrefix(w.Message, "needs the variable") {
							t.Errorf("%s: warning %s", e.File, w)
						}
					}
				}
				var steps []int
				for _, holds := range []bool{true, false} {
					for _, stop := range []bool{true, false} {
						d := &driver{t: t, engine: runs.NewEngine(runs.Options{Find: find}), find: find, holds: holds, stop: stop}
						steps = append(steps, d.drive(d.engine.Start(t.Context(), d.who(), e.ID, "to the end", nil)))
						answers, said = answers+d.answers, said+d.said
					}
				}
				t.Logf("%s: %d steps %s", e.ID, steps, theirs[e.ID])
			})
		}
	}
	t.Logf("%d workflows, and answers of %.3f times what their files say", files, float64(answers)/float64(said))
	if float64(answers) > 1.15*float64(said) {
		t.Errorf("got answers of %d bytes for %d of the files, want 1.15 times as many at most", answers, said)
	}
}

// A driver takes a run to its end, as an agent and as a person.
type driver struct {
	t           *testing.T
	engine      *runs.Engine
	find        func(id string) (*definition.Entry, error)
	holds, stop bool

	w *definition.Workflow // of the run that goes on

	// answers are the bytes of those with steps, but for the first, and said those of them that the file says: the
	// title, the prompt, and what is checked.
	answers, said int
}

// reached is what an answer says of a run.
type reached struct {
	told
	Workflow string `json:"workflowId"`
	Loop     *struct{ Iteration int }
	Runs     []struct{ Run string }
	Missing  []stepping.Missing
}

func (d *driver) who() runs.Caller { return runs.Caller{Principal: "alice", Client: "driver"} }

// drive goes on with a run to its end, after an answer, and counts its steps.
func (d *driver) drive(a runs.Answer, err error) int {
	d.t.Helper()
	last, refused := "", 0
	for range 20_000 {
		var at reached
		if err == nil {
			err = json.Unmarshal(a.Data, &at)
		}
		var e *definition.Entry
		if err == nil {
			e, err = d.find(at.Workflow)
		}
		if err != nil {
			d.t.Fatalf("%t %t: after %s: %v", d.holds, d.stop, last, err)
		}
		d.w = e.Workflow
		order := d.w.StepIDs()
		next := runs.Step{Run: at.Run}
		switch at.State {
		case "finished":
			return at.Done
		case "missing":
			next.Context = d.values(at.Missing)
		case "person":
			if _, err := d.engine.Say(d.t.Context(), d.who().Principal, runs.Opinion{Run: at.Run, Answer: "yes", How: "test"}); err != nil {
				d.t.Fatal(err)
			}
		case "step":
			again := at.Loop != nil && at.Loop.Iteration > 1
			told := slices.ContainsFunc(at.Warnings, func(w string) bool { return strings.Contains(w, "which stands behind it in the file") })
			if last != "" && !again && !told && slices.Index(order, at.Step.ID) <= slices.Index(order, last) {
				d.t.Errorf("%t %t: %s comes after %s; warnings %q", d.holds, d.stop, at.Step.ID, last, at.Warnings)
			}
			for _, part := range []string{"[wr.refs", "is not carried out", "{{wr.", "written elsewhere"} {
				if strings.Contains(a.Text, part) {
					d.t.Errorf("%t %t: the prompt of %s has %q", d.holds, d.stop, at.Step.ID, part)
				}
			}
			if words, form, ok := strings.Cut(a.Text, "\n\nThen workflow_next "); ok && last != "" {
				_, rules, _ := strings.Cut(form, "checked for: ")
				d.answers, d.said = d.answers+len(a.Text), d.said+len(words)+len(rules)
			}
			last, refused = at.Step.ID, 0
			next.ID, next.Output = at.Step.ID, fmt.Sprintf("done %d", at.Done)
		case "blocked":
			if refused++; refused > 3 {
				d.t.Fatalf("%t %t: %s is never done: %s", d.holds, d.stop, last, a.Text)
			}
			next = d.form(a.Text)
			next.Notes = fmt.Sprintf("done %d", at.Done) // In a loop the same words would be the last pass told twice.
		case "runs":
			for _, child := range at.Runs {
				d.drive(d.engine.Next(d.t.Context(), d.who(), runs.Step{Run: child.Run}))
			}
		default:
			d.t.Fatalf("%t %t: after %s the run is %s: %s", d.holds, d.stop, last, at.State, a.Text)
		}
		a, err = d.engine.Next(d.t.Context(), d.who(), next)
	}
	d.t.Errorf("%t %t: no end; the last step is %s", d.holds, d.stop, last)
	return 0
}

// form is what an answer says would pass, with a decision of the driver's about loops.
func (d *driver) form(text string) runs.Step {
	d.t.Helper()
	_, rest, ok := strings.Cut(text, "workflow_next {")
	var form struct {
		Run, Step, Output string
		Artifacts         []map[string]any
	}
	if err := json.NewDecoder(strings.NewReader("{" + rest)).Decode(&form); !ok || err != nil {
		d.t.Fatalf("got %s and %v, want a form that would pass", text, err)
	}
	next := runs.Step{Run: form.Run, ID: form.Step, Output: form.Output}
	for _, a := range form.Artifacts {
		if a["kind"] == "wr.loop_control" && d.stop {
			a["decision"] = "stop"
		}
		raw, err := json.Marshal(a)
		if err != nil {
			d.t.Fatal(err)
		}
		next.Artifacts = append(next.Artifacts, raw)
	}
	return next
}

// values are what the variables that are asked for are set to.
func (d *driver) values(missing []stepping.Missing) json.RawMessage {
	d.t.Helper()
	set := map[string]any{}
	for _, m := range missing {
		set[m.Variable] = d.value(m.Tests[0])
		for _, test := range m.Tests {
			if test.Operator == "type" {
				set[m.Variable] = d.value(test)
			}
		}
		for _, s := range d.w.Steps {
			if s.Loop != nil && s.Loop.ItemsVar == m.Variable {
				set[m.Variable] = d.value(stepping.Test{Operator: "type", Value: "an array"})
			}
		}
	}
	raw, err := json.Marshal(set)
	if err != nil {
		d.t.Fatal(err)
	}
	return raw
}

func (d *driver) value(test stepping.Test) any {
	number := func(plus float64) any {
		n, _ := test.Value.(json.Number)
		f, _ := n.Float64()
		return f + plus
	}
	switch {
	case test.Operator == "type" && test.Value == "an array":
		return []any{map[string]any{"name": "a", "id": "1"}, map[string]any{"name": "b", "id": "2"}}
	case test.Operator == "type":
		return 2
	case test.Operator == "truthy":
		return d.holds
	case !d.holds:
		return "nothing that is asked for"
	}
	switch test.Operator {
	case "gt":
		return number(1)
	case "lt":
		return number(-1)
	case "gte", "lte":
		return number(0)
	case "not_equals":
		return "something else"
	case "in":
		if list, ok := test.Value.([]any); ok && len(list) > 0 {
			return list[0]
		}
	}
	return test.Value
}
