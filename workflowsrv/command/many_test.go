package command_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// Of a toolbox of hundreds of tools a model is offered 64, and the right one is among them, also where that is a core
// command.
func TestOfferedOfMany(t *testing.T) {
	data, err := os.ReadFile("../../../shared/find/tools.json")
	if err != nil {
		t.Skip(err)
	}
	var servers []struct {
		Server string
		Tools  []json.RawMessage
	}
	if err := json.Unmarshal(data, &servers); err != nil {
		t.Fatal(err)
	}
	tools := threeServersTools(t)
	for _, s := range servers {
		for _, raw := range s.Tools {
			tools = append(tools, command.Tool{Toolbox: "dev", Server: s.Server, Raw: raw})
		}
	}
	w := command.Project("dev", "d", tools)
	type line struct {
		Say   string
		Means []string
	}
	lines := slices.Concat(read[map[string][]line](t, "testdata/toolbox.yaml")["blind"], read[map[string][]line](t, "testdata/toolbox.yaml")["seen"], []line{
		{"what can you do for me?", []string{"what_can_i_do"}}, {"which commands are there", []string{"what_can_i_do"}}, {"help me please", []string{"what_can_i_do"}},
		{"where am I now", []string{"what_is_current_context"}}, {"tell me where we are", []string{"what_is_current_context"}},
		{"one level up", []string{"go_up"}}, {"leave this place", []string{"go_up"}}, {"back to the top", []string{"reset_context"}}, {"start over", []string{"reset_context"}},
	})
	offered := 0
	for _, l := range lines {
		s := &scripted{}
		if _, err := command.Again(w, command.Options{Caller: &recorder{}, Chooser: s}).Assist(t.Context(), nil, l.Say, command.CallOptions{}); err != nil {
			t.Fatal(err)
		}
		switch {
		case len(s.asked) == 0: // It was found by its name.
		case len(s.asked[0].Candidates) > 64:
			t.Fatalf("%q: %d commands are offered, want 64 at most", l.Say, len(s.asked[0].Candidates))
		case !slices.ContainsFunc(s.asked[0].Candidates, func(c command.Candidate) bool { return slices.Contains(l.Means, c.Name) }):
			t.Logf("%q: none of %q is offered", l.Say, l.Means)
			continue
		}
		offered++
	}
	t.Logf("of %d commands a model is offered the right one in %d of %d", len(w.Commands), offered, len(lines))
	if float64(offered) < 0.98*float64(len(lines)) {
		t.Errorf("of %d commands a model is offered the right one in %d of %d, want .98", len(w.Commands), offered, len(lines))
	}
}
