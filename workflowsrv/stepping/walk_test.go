package stepping_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/stepping"
)

// FuzzWalk follows workflows with contexts made up at random, which change on the way. However it goes, the walk ends
// within the number of steps that the loops allow, and it is complete once every variable that is asked for is there.
func FuzzWalk(f *testing.F) {
	workflows := corpus(f)
	for i := range workflows {
		f.Add(uint64(i), uint64(i))
		f.Add(uint64(i), uint64(i+1000))
	}
	f.Fuzz(func(t *testing.T, which, seed uint64) {
		w := workflows[which%uint64(len(workflows))]
		random := rand.New(rand.NewPCG(seed, 1))
		values := candidates(w)
		caller := &walk{w: w}
		mode := criteria.Mode(seed % 2)
		for range longest(w) {
			set := map[string]any{}
			for name, list := range values {
				if random.IntN(4) == 0 {
					set[name] = list[random.IntN(len(list))]
				}
			}
			for _, m := range caller.last.Missing {
				set[m.Variable] = values[m.Variable][random.IntN(len(values[m.Variable]))]
			}
			move := move{Set: set, Lenient: mode == criteria.Lenient}
			if caller.last.Step != nil {
				move.Done = []string{caller.last.Step.ID}
			}
			a, err := caller.next(move)
			if err != nil {
				// A shape that a loop cannot use: the caller corrects it.
				var loop *stepping.LoopError
				if !asLoop(err, &loop) {
					t.Fatalf("%s: %v", w.ID, err)
				}
				correct(caller, w, loop)
				continue
			}
			if a.IsComplete {
				return
			}
			if a.Step == nil {
				checkAbsent(t, a.Missing, caller.request.Context)
			}
		}
		t.Errorf("%s: got no end within %d calls; the last answer is %+v", w.ID, longest(w), caller.last)
	})
}

func asLoop(err error, target **stepping.LoopError) bool {
	loop, ok := err.(*stepping.LoopError)
	*target = loop
	return ok
}

// correct gives the loop's variable a shape that the loop can use.
func correct(caller *walk, w *definition.Workflow, e *stepping.LoopError) {
	value := any(json.Number("2"))
	if w.Step(e.LoopID).Loop.Kind == definition.ForEach {
		value = []any{map[string]any{"id": "x"}}
	}
	caller.request.Context[e.Variable] = value
}

// longest bounds the calls of a walk: every step, in every pass of its loop, each possibly after one call that asks for
// a variable and one that fails.
func longest(w *definition.Workflow) int {
	n := 2
	for _, s := range w.Steps {
		n++
		if s.Loop != nil {
			n += len(s.Loop.Body)*s.Loop.MaxIterations + 1
		}
	}
	return 3 * n * (1 + len(candidates(w)))
}

// candidates gives for each variable of the workflow values that its tests tell apart, and others.
func candidates(w *definition.Workflow) map[string][]any {
	values := map[string][]any{}
	add := func(name string, list ...any) { values[name] = append(values[name], list...) }
	condition := func(c *criteria.Condition) {
		for _, v := range c.Vars() {
			add(v.Name, v.Value, "other", true, false, json.Number("0"), json.Number("7"), []any{}, map[string]any{})
			if list, ok := v.Value.([]any); ok {
				add(v.Name, list...)
			}
			if n, ok := v.Value.(json.Number); ok {
				add(v.Name, json.Number("-"+n.String()), json.Number(n.String()+"1"), json.Number(n.String()+".5"))
			}
		}
	}
	each := func(s *definition.Step) {
		condition(s.RunCondition)
		condition(s.Confirm.When)
		for _, f := range s.Fragments {
			condition(f.When)
		}
	}
	for _, s := range w.Steps {
		each(s)
		if s.Loop == nil {
			continue
		}
		condition(s.Loop.Condition)
		for _, b := range s.Loop.Body {
			each(b)
		}
		if s.Loop.ItemsVar != "" {
			add(s.Loop.ItemsVar, []any{json.Number("1")}, []any{map[string]any{"id": "a"}, map[string]any{"id": "b"}}, "none", []any{})
		}
		if s.Loop.CountVar != "" {
			add(s.Loop.CountVar, json.Number("0"), json.Number("3"), json.Number("-1"), json.Number("1.5"), "three")
		}
	}
	for name, list := range values {
		values[name] = slices.DeleteFunc(list, func(v any) bool { return v == nil })
	}
	return values
}

// TestEveryStepIsReached looks for a context in which each step of each workflow is handed out. Those that have none
// are reported by a warning.
func TestEveryStepIsReached(t *testing.T) {
	// Its condition needs a second pass, of which there is none.
	const never = "limits/three"
	random := rand.New(rand.NewPCG(3, 4))
	for _, w := range corpus(t) {
		values := candidates(w)
		for _, s := range w.Steps {
			targets := []*definition.Step{s}
			if s.Loop != nil {
				targets = s.Loop.Body
			} else if s.InLoop {
				continue // reached through its loop
			}
			for _, target := range targets {
				if w.ID+"/"+target.ID != never && !reach(w, s, target, values, random) && !warned(w, target) {
					t.Errorf("%s: the step %q is reached in no context that was tried, and no warning says so", w.ID, target.ID)
				}
			}
		}
	}
}

// warned reports whether a warning says that s is never reached. It names the step by its place, so the last part of
// that has to be looked up.
func warned(w *definition.Workflow, s *definition.Step) bool {
	return slices.ContainsFunc(w.Warnings, func(f definition.Fault) bool {
		var top, body int
		n, err := fmt.Sscanf(f.Path, "/steps/%d/body/%d/runCondition", &top, &body)
		if f.Message != "holds in no context: the step is never reached" || n == 0 {
			return false
		}
		if err != nil {
			return w.Steps[top] == s
		}
		return w.Steps[top].Loop.Body[body] == s
	})
}

// reach tries contexts until target, which is top or in the loop top, is handed out when everything else is done.
func reach(w *definition.Workflow, top, target *definition.Step, values map[string][]any, random *rand.Rand) bool {
	var others []string
	for _, s := range w.Steps {
		if s != top && s != target {
			others = append(others, s.ID)
		}
	}
	relevant := map[string]bool{}
	note := func(c *criteria.Condition) {
		for _, v := range c.Vars() {
			relevant[v.Name] = true
		}
	}
	note(target.RunCondition)
	note(top.RunCondition)
	if l := top.Loop; l != nil {
		note(l.Condition)
		relevant[l.ItemsVar], relevant[l.CountVar] = true, true
	}
	names := slices.Sorted(maps.Keys(relevant))
	for range 20_000 {
		variables := map[string]any{}
		for _, name := range names {
			if list := values[name]; len(list) > 0 && random.IntN(8) > 0 {
				variables[name] = list[random.IntN(len(list))]
			}
		}
		r := stepping.Request{Completed: others, Context: variables}
		for range 64 { // a few passes of a loop
			a, err := stepping.Next(context.Background(), w, r)
			if err != nil || a.IsComplete {
				break
			}
			// What a step before it asks for is answered somehow.
			for _, m := range a.Missing {
				if list := values[m.Variable]; len(list) > 0 {
					variables[m.Variable] = list[random.IntN(len(list))]
				}
			}
			if a.Step == target {
				return true
			}
			r.State = a.State
		}
	}
	return false
}

// TestHostileContext hands over contexts that no author has thought of.
func TestHostileContext(t *testing.T) {
	deep := any("end")
	for range 5000 {
		deep = []any{deep}
	}
	large := make([]any, 200_000)
	for i := range large {
		large[i] = json.Number(fmt.Sprint(i))
	}
	for _, w := range corpus(t) {
		for _, v := range []any{deep, large, "constructor", map[string]any{"__proto__": true}, nil} {
			context := map[string]any{"__proto__": v, "constructor": v, "": v}
			for name := range candidates(w) {
				context[name] = v
			}
			a, err := stepping.Next(t.Context(), w, stepping.Request{Context: context})
			if err == nil && a.Prompt == "" {
				t.Errorf("%s: got an answer without a prompt", w.ID)
			}
		}
	}
}
