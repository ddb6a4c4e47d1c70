package command_test

import (
	"context"
	"os"
	"slices"
	"testing"
	"testing/fstest"

	"gopkg.in/yaml.v3"

	"github.com/mcp-workbench/workbench/workflowsrv/command"
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

// The measure of finding a command by words in common. Each utterance is tried
// against an index that does not have it; what is about something else, against
// all. The bounds are loose: they notice a break, not a wobble.
func TestQuality(t *testing.T) {
	data, err := os.ReadFile("testdata/quality.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var s said
	if err := yaml.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	for _, bare := range []bool{false, true} {
		var all, first, third, sure, sureRight int
		w := s.workflow(t, "", bare)
		for name, c := range s.Commands {
			for _, u := range c.Utterances {
				if !bare {
					w = s.workflow(t, u, false)
				}
				found := command.Find(w, u)
				all++
				if len(found) > 0 && found[0] == name {
					first++
				}
				if slices.Contains(found[:min(3, len(found))], name) {
					third++
				}
				if got, ok := command.Surely(w, u); ok {
					sure++
					if got == name {
						sureRight++
					}
				}
			}
		}
		astray := 0
		w = s.workflow(t, "", bare)
		for _, u := range s.Elsewhere {
			if _, ok := command.Surely(w, u); ok {
				astray++
			}
		}
		t.Logf("without utterances %v: of %d the first is right %.2f, one of three %.2f; sure of %d, right %d; of %d about something else sure of %d",
			bare, all, float64(first)/float64(all), float64(third)/float64(all), sure, sureRight, len(s.Elsewhere), astray)
		wantFirst, wantThird := 0.42, 0.6
		if float64(first)/float64(all) < wantFirst || float64(third)/float64(all) < wantThird {
			t.Errorf("got %.2f and %.2f, want at least %.2f and %.2f", float64(first)/float64(all), float64(third)/float64(all), wantFirst, wantThird)
		}
		if sure > 0 && float64(sureRight)/float64(sure) < 0.9 || astray > 1 {
			t.Errorf("sure and right %d of %d, astray %d: a guess that runs must be right", sureRight, sure, astray)
		}
		if !bare && sure < 5 {
			t.Errorf("sure of %d only: nothing is ever run", sure)
		}
	}
	// What is about something else runs nothing.
	r := &recorder{}
	e := command.New(s.workflow(t, "", false), command.Options{Caller: r})
	for _, u := range s.Elsewhere {
		if _, err := e.Assist(context.Background(), nil, u, command.CallOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.calls) > 1 {
		t.Errorf("got calls %q for what no command does", r.calls)
	}
}
