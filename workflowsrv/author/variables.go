package author

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// A Variable is one that conditions, loops or calls of tools of a workflow need.
type Variable struct {
	Name string `json:"name"`
	// Set are the steps whose texts name it, so that the agent can set it, and the loops that set it themselves.
	Set []string `json:"set"`
	// Tested are the steps and loops that depend on it, and Tests what it is compared with.
	Tested []string `json:"tested"`
	Tests  []string `json:"tests"`
}

// Variables lists them in the order of the file.
func Variables(w *definition.Workflow) []Variable {
	v := &variables{byName: map[string]*Variable{}}
	for s := range w.All() {
		v.condition(s, s.RunCondition)
		v.condition(s, s.Confirm.When)
		for _, f := range s.Fragments {
			v.condition(s, f.When)
		}
		for _, d := range s.Delegations {
			v.condition(s, d.When)
		}
		if s.Act != nil {
			for _, name := range s.Act.Needs {
				v.note(s, name, "a value")
			}
		}
		if l := s.Loop; l != nil {
			v.condition(s, l.Condition)
			for _, need := range []struct{ name, what string }{{l.ItemsVar, "a list"}, {l.CountVar, "a number"}} {
				if need.name != "" {
					v.note(s, need.name, need.what)
				}
			}
		}
	}
	for s := range w.All() {
		for _, name := range v.order {
			if s.Mentions(name) {
				v.byName[name].Set = append(v.byName[name].Set, s.ID)
			}
		}
		if l := s.Loop; l != nil {
			for _, name := range []string{l.IterationVar, l.ItemVar, l.IndexVar} {
				if known := v.byName[name]; known != nil && (l.Kind == definition.ForEach || name == l.IterationVar) {
					known.Set = append(known.Set, s.ID)
				}
			}
		}
	}
	list := make([]Variable, len(v.order))
	for i, name := range v.order {
		list[i] = *v.byName[name]
	}
	return list
}

type variables struct {
	byName map[string]*Variable
	order  []string
}

func (v *variables) condition(s *definition.Step, c *criteria.Condition) {
	for _, t := range c.Vars() {
		v.note(s, t.Name, strings.TrimSpace(strings.TrimPrefix(t.Words(), t.Name)))
	}
}

func (v *variables) note(s *definition.Step, name, test string) {
	known := v.byName[name]
	if known == nil {
		known = &Variable{Name: name, Set: []string{}}
		v.byName[name], v.order = known, append(v.order, name)
	}
	if !slices.Contains(known.Tested, s.ID) {
		known.Tested = append(known.Tested, s.ID)
	}
	test = cmp.Or(test, "true or false")
	if !slices.Contains(known.Tests, test) {
		known.Tests = append(known.Tests, test)
	}
}
