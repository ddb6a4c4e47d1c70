package stepping_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

var draws = flag.Int("draws", 150, "how many workflows are drawn and walked beside the oracle")

// Workflows that are drawn are walked by stepping and by an oracle, which reads them from the top to the bottom as one
// reads a program. Both name the same steps in the same passes, while variables of loops change between the calls. In
// between calls come with states that were mutated: they fail or answer, and change nothing for the call with the right
// one.
func TestOrderOfDrawnWorkflows(t *testing.T) {
	steps, mutated := 0, 0
	for seed := range *draws {
		d := draw{rand.New(rand.NewPCG(uint64(seed), 16))}
		flow := d.workflow()
		text, err := json.Marshal(flow)
		if err != nil {
			t.Fatal(err)
		}
		caller := &walk{w: parse(t, "w.json", text)}
		variables := d.variables()
		want, stop := iter.Pull(flow.walk(variables))
		next := move{Set: variables}
		for {
			a, err := caller.next(next)
			if err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, text)
			}
			got := "the end"
			if a.Step != nil {
				got = a.Step.ID
				if a.Loop != nil {
					got += fmt.Sprintf(" in pass %d", a.Loop.Iteration)
				}
			} else if !a.IsComplete {
				t.Fatalf("seed %d: got neither a step nor the end: %+v\n%s", seed, a.Missing, text)
			}
			expected, ok := want()
			if !ok {
				expected = "the end"
			}
			if got != expected {
				t.Fatalf("seed %d, step %d: got %s, want %s, with %v\n%s", seed, steps, got, expected, variables, text)
			}
			if !ok {
				break
			}
			steps++
			if a.State != "" && d.IntN(4) == 0 {
				mutated++
				other := *caller
				other.request.Completed = slices.Clone(caller.request.Completed)
				state := d.mutate(a.State)
				_, _ = other.next(move{Done: []string{a.Step.ID}, State: &state})
			}
			variables["left"] = json.Number(fmt.Sprint(d.IntN(3))) // the oracle reads the same
			next = move{Done: []string{a.Step.ID}, Set: map[string]any{"left": variables["left"]}}
		}
		stop()
	}
	t.Logf("%d workflows, %d steps in order, %d mutated states", *draws, steps, mutated)
	if steps < 3*(*draws) || mutated < *draws/10 {
		t.Errorf("got %d steps and %d mutated states, which is too little to show anything", steps, mutated)
	}
}

// drawnStep is a step of a file, and knows what it means.
type drawnStep struct {
	ID        string         `json:"id"`
	Type      string         `json:"type,omitempty"`
	Title     string         `json:"title"`
	Prompt    string         `json:"prompt,omitempty"`
	Condition map[string]any `json:"runCondition,omitempty"`
	Loop      map[string]any `json:"loop,omitempty"`
	Body      []*drawnStep   `json:"body,omitempty"`

	holds  func(map[string]any) bool
	passes func(done int, variables map[string]any) bool // whether there is one more
}

type drawnFlow struct {
	ID          string       `json:"id"`
	Name        string       `json:"name"`
	Description string       `json:"description"`
	Version     string       `json:"version"`
	Steps       []*drawnStep `json:"steps"`
}

// walk yields what is to be done. It reads the variables as they are when it comes to a condition.
func (f *drawnFlow) walk(variables map[string]any) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, s := range f.Steps {
			switch {
			case !s.holds(variables):
			case s.Loop == nil:
				if !yield(s.ID) {
					return
				}
			default:
				for pass := 1; s.passes(pass-1, variables); pass++ {
					inside := map[string]any{"pass": json.Number(fmt.Sprint(pass))}
					for name, value := range variables {
						inside[name] = value
					}
					for _, b := range s.Body {
						inside["left"] = variables["left"]
						if b.holds(inside) && !yield(fmt.Sprintf("%s in pass %d", b.ID, pass)) {
							return
						}
					}
				}
			}
		}
	}
}

type draw struct{ *rand.Rand }

func (d draw) variables() map[string]any {
	values := map[string]any{"times": json.Number(fmt.Sprint(d.IntN(4))), "left": json.Number(fmt.Sprint(d.IntN(3))),
		"list": slices.Repeat([]any{"a"}, d.IntN(4))}
	for _, name := range []string{"u", "v", "w"} {
		values[name] = string("xyz"[d.IntN(3)])
	}
	return values
}

func (d draw) workflow() *drawnFlow {
	f := &drawnFlow{ID: "drawn", Name: "n", Description: "d", Version: "1.0.0"}
	for i := range 2 + d.IntN(6) {
		s := &drawnStep{ID: fmt.Sprintf("step-%d", i), Title: "t", holds: always}
		if d.IntN(2) == 0 {
			s.Condition, s.holds = d.condition(2, false)
		}
		if d.IntN(3) > 0 {
			s.Prompt = "p"
		} else {
			d.loop(s)
		}
		f.Steps = append(f.Steps, s)
	}
	return f
}

func always(map[string]any) bool { return true }

func (d draw) loop(s *drawnStep) {
	most := 1 + d.IntN(3)
	s.Type = "loop"
	s.Loop = map[string]any{"maxIterations": most, "iterationVar": "pass"}
	within := func(number func(map[string]any) int) func(int, map[string]any) bool {
		return func(done int, variables map[string]any) bool { return done < min(most, number(variables)) }
	}
	switch d.IntN(5) {
	case 0:
		count := 1 + d.IntN(4)
		s.Loop["type"], s.Loop["count"] = "for", count
		s.passes = within(func(map[string]any) int { return count })
	case 1:
		s.Loop["type"], s.Loop["count"] = "for", "times"
		s.passes = within(func(variables map[string]any) int { return numberOf(variables["times"]) })
	case 2:
		s.Loop["type"], s.Loop["items"] = "forEach", "list"
		s.passes = within(func(variables map[string]any) int { return len(variables["list"].([]any)) })
	case 3:
		s.Loop["type"], s.Loop["condition"] = "while", map[string]any{"var": "left", "gt": 0}
		s.passes = func(done int, variables map[string]any) bool { return done < most && numberOf(variables["left"]) > 0 }
	default:
		s.Loop["type"], s.Loop["condition"] = "until", map[string]any{"var": "left", "equals": 0}
		s.passes = func(done int, variables map[string]any) bool { return done < most && numberOf(variables["left"]) != 0 }
	}
	for i := range 1 + d.IntN(3) {
		b := &drawnStep{ID: fmt.Sprintf("%s-%c", s.ID, 'a'+i), Title: "t", Prompt: "p", holds: always}
		if d.IntN(2) == 0 {
			b.Condition, b.holds = d.condition(2, true)
		}
		s.Body = append(s.Body, b)
	}
}

// condition draws one, with what it means. In a loop it may ask for the pass and for what changes.
func (d draw) condition(depth int, inside bool) (map[string]any, func(map[string]any) bool) {
	if depth > 0 && d.IntN(3) == 0 {
		one, first := d.condition(depth-1, inside)
		two, second := d.condition(depth-1, inside)
		switch d.IntN(3) {
		case 0:
			return map[string]any{"and": []any{one, two}}, func(v map[string]any) bool { return first(v) && second(v) }
		case 1:
			return map[string]any{"or": []any{one, two}}, func(v map[string]any) bool { return first(v) || second(v) }
		default:
			return map[string]any{"not": one}, func(v map[string]any) bool { return !first(v) }
		}
	}
	if inside && d.IntN(2) == 0 {
		name, than := []string{"pass", "left"}[d.IntN(2)], d.IntN(3)
		return map[string]any{"var": name, "gt": than}, func(v map[string]any) bool { return numberOf(v[name]) > than }
	}
	name, value := string("uvw"[d.IntN(3)]), string("xyz"[d.IntN(3)])
	if d.IntN(2) == 0 {
		return map[string]any{"var": name, "not_equals": value}, func(v map[string]any) bool { return v[name] != value }
	}
	return map[string]any{"var": name, "equals": value}, func(v map[string]any) bool { return v[name] == value }
}

func numberOf(value any) int {
	n, _ := value.(json.Number).Int64()
	return int(n)
}

// mutate changes a state as a bad client or a bad disk would.
func (d draw) mutate(state string) string {
	at := d.IntN(len(state))
	switch d.IntN(4) {
	case 0:
		return state[:at]
	case 1:
		return state[:at] + string(rune(d.IntN(0x300))) + state[at+1:]
	case 2:
		return strings.Repeat(state, 2)
	default:
		return state[:at] + state[at:at+1] + state[at:]
	}
}
