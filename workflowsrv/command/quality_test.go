package command_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"gopkg.in/yaml.v3"

	"github.com/mcp-workbench/workbench/workflowsrv/command"
	"github.com/mcp-workbench/workbench/workflowsrv/command/example"
)

// said is what testdata/quality.yaml holds.
type said struct {
	Commands map[string]struct {
		Description string   `yaml:"description"`
		Effect      string   `yaml:"effect"`
		Utterances  []string `yaml:"utterances"`
	} `yaml:"commands"`
	Elsewhere []string `yaml:"elsewhere"`
}

// workflow makes the workflow without one utterance, or without all.
func (s said) workflow(t *testing.T, without string, bare bool) *command.Workflow {
	t.Helper()
	f := fstest.MapFS{"workflow.yaml": {Data: []byte("name: Desk\ndescription: d\ntoolbox: box\n")}}
	for name, c := range s.Commands {
		kept := slices.DeleteFunc(slices.Clone(c.Utterances), func(u string) bool { return bare || u == without })
		file, err := yaml.Marshal(map[string]any{"description": c.Description, "effect": c.Effect, "utterances": kept, "tool": "s/" + name})
		if err != nil {
			t.Fatal(err)
		}
		f["commands/"+name+".yaml"] = &fstest.MapFile{Data: file}
	}
	w, err := command.Load(f, command.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// A measure is how often a command was found.
type measure struct{ all, first, third, ran, wrong int }

func (m measure) String() string {
	return fmt.Sprintf("%d said, the right one first %.2f, in three %.2f; run %d, wrongly %d", m.all, float64(m.first)/float64(m.all), float64(m.third)/float64(m.all), m.ran, m.wrong)
}

// say says something to a workflow, from where the path ends.
func (m *measure) say(t *testing.T, w *command.Workflow, at command.Path, text string, means ...string) {
	t.Helper()
	found := command.Find(w, at, text)
	i := slices.IndexFunc(found, func(name string) bool { return slices.Contains(means, name) })
	m.all++
	if i == 0 {
		m.first++
	}
	if i >= 0 && i < 3 {
		m.third++
	}
	r := &recorder{}
	o, err := command.Again(w, command.Options{Caller: r}).Assist(t.Context(), at, text, command.CallOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !o.Output.Success || o.Output.CommandName == nil {
		return // what was called only looked values up
	}
	m.ran++
	if !slices.Contains(means, *o.Output.CommandName) {
		m.wrong++
		t.Logf("%q ran %q", text, r.calls)
	}
}

// want tells the measure and compares it with what is asked for.
func (m measure) want(t *testing.T, of string, first, third float64) {
	t.Helper()
	t.Logf("%s: %v", of, m)
	if float64(m.first) < first*float64(m.all) || float64(m.third) < third*float64(m.all) || m.wrong > 0 {
		t.Errorf("%s: got %v, want first %.2f, in three %.2f, none run wrongly", of, m, first, third)
	}
}

// The measure of finding a command in words. Each utterance of a help desk and of the example is tried against an index
// that does not have it; what is about something else, against all.
func TestQuality(t *testing.T) {
	s := read[said](t, "testdata/quality.yaml")
	for _, bare := range []bool{false, true} {
		var m measure
		w := s.workflow(t, "", bare)
		for _, name := range slices.Sorted(maps.Keys(s.Commands)) {
			for _, u := range s.Commands[name].Utterances {
				if !bare {
					w = s.workflow(t, u, false)
				}
				m.say(t, w, nil, u, name)
			}
		}
		m.want(t, fmt.Sprintf("the help desk, bare %v", bare), 0.75, 0.9)
		if m.ran < 5 {
			t.Errorf("ran %d only: nothing is ever run", m.ran)
		}
	}
	var m measure
	for _, c := range books(t).Commands {
		for _, u := range c.Utterances {
			at := command.Path(nil)
			switch c.Context {
			case "Order":
				at = order()
			case "Line":
				at = line()
			}
			m.say(t, booksWithout(t, u), at, u, c.Name)
		}
	}
	m.want(t, "the example", 0.75, 0.9)
}

// booksWithout is the example without one utterance.
func booksWithout(t *testing.T, utterance string) *command.Workflow {
	t.Helper()
	f := fstest.MapFS{}
	err := fs.WalkDir(example.Files(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(example.Files(), path)
		f[path] = &fstest.MapFile{Data: []byte(strings.Replace(string(data), "  - "+utterance+"\n", "", 1))}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	w, err := command.Load(f, command.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// What people say to the tools of three npm servers, which have no utterances.
func TestQualityToolbox(t *testing.T) {
	w := threeServers(t)
	type line struct {
		Say   string
		Means []string
	}
	lines := read[map[string][]line](t, "testdata/toolbox.yaml")
	offered, all := 0, 0
	for _, part := range []string{"blind", "seen"} {
		var m measure
		for _, l := range lines[part] {
			m.say(t, w, nil, l.Say, l.Means...)
			s := &scripted{}
			if _, err := command.Again(w, command.Options{Caller: &recorder{}, Chooser: s}).Assist(t.Context(), nil, l.Say, command.CallOptions{}); err != nil {
				t.Fatal(err)
			}
			// What never comes to a choice was found by its name.
			all++
			if len(s.asked) == 0 || slices.ContainsFunc(s.asked[0].Candidates, func(c command.Candidate) bool { return slices.Contains(l.Means, c.Name) }) {
				offered++
			}
		}
		m.want(t, part, 0.75, 0.9)
	}
	t.Logf("a model is offered the right one in %d of %d", offered, all)
	if float64(offered) < 0.98*float64(all) {
		t.Errorf("a model is offered the right command in %d of %d, want .98", offered, all)
	}
}

func threeServers(t *testing.T) *command.Workflow {
	t.Helper()
	return command.Project("dev", "d", threeServersTools(t))
}

func threeServersTools(t *testing.T) []command.Tool {
	t.Helper()
	data, err := os.ReadFile("testdata/toolbox.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var tools []command.Tool
	for line := range bytes.Lines(data) {
		var entry struct {
			Server string
			Tool   json.RawMessage
		}
		if err := json.Unmarshal(line, &entry); err != nil {
			t.Fatal(err)
		}
		tools = append(tools, command.Tool{Toolbox: "dev", Server: entry.Server, Raw: entry.Tool})
	}
	return tools
}

// What is about something else runs nothing, and is seldom offered anything.
func TestElsewhere(t *testing.T) {
	s := read[said](t, "testdata/quality.yaml")
	for name, w := range map[string]*command.Workflow{"help desk": s.workflow(t, "", false), "toolbox": threeServers(t), "example": books(t)} {
		offered := 0
		e := command.New(w, command.Options{Caller: &recorder{}})
		for _, u := range append(s.Elsewhere, "what is 5 times 7", "what time is it") {
			o, err := e.Assist(t.Context(), nil, u, command.CallOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if o.Status == command.AwaitingUser {
				offered++
			}
			if o.Output.CommandName != nil && o.Output.Success {
				t.Errorf("%s: %q ran %s", name, u, *o.Output.CommandName)
			}
		}
		t.Logf("%s: %d of %d are offered something", name, offered, len(s.Elsewhere)+2)
		if offered > len(s.Elsewhere)*2/5 {
			t.Errorf("%s: got %d offers for what no command does", name, offered)
		}
	}
}

func read[T any](t *testing.T, file string) (v T) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}
