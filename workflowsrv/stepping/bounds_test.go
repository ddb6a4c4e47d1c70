package stepping_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/stepping"
)

const head = "id: bounds\nname: n\ndescription: d\nversion: 1.0.0\nsteps:\n"

// TestOneBudget gives every step a pattern that never ends. The matches of one call have a time together, and what
// comes after it is not judged.
func TestOneBudget(t *testing.T) {
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, "- {id: step-%d, title: t, prompt: p, runCondition: {and: [{var: text, matches: '^(a+)+$'}, {var: no, equals: true}]}}\n", i)
	}
	b.WriteString("- {id: last, title: t, prompt: p, runCondition: {var: text, matches: '^(a+)+$'}}\n")
	w := parse(t, "w.yaml", []byte(head+b.String()))
	variables := map[string]any{"text": strings.Repeat("a", 60) + "!", "no": false}
	_, err := stepping.Next(t.Context(), w, stepping.Request{Context: variables})
	if err == nil || !strings.Contains(err.Error(), "all matches of one call may take together") {
		t.Errorf("got %v, want an error that the time of the call is spent", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("the client has gone")
	cancel(gone)
	if _, err := stepping.Next(ctx, w, stepping.Request{Context: variables}); !errors.Is(err, gone) {
		t.Errorf("a call that was cancelled: got %v, want %v", err, gone)
	}
}

// TestManyTurns makes a loop go round without a step to hand out, beside a context that is too large to be copied for
// every pass.
func TestManyTurns(t *testing.T) {
	var b strings.Builder
	b.WriteString("- id: rounds\n  type: loop\n  title: t\n  loop: {type: for, count: 1000, maxIterations: 1000}\n  body:\n")
	for i := range 900 {
		fmt.Fprintf(&b, "  - {id: step-%d, title: t, prompt: p, runCondition: {var: no}}\n", i)
	}
	w := parse(t, "w.yaml", []byte(head+b.String()))
	variables := map[string]any{"no": false}
	for i := range 100_000 {
		variables[fmt.Sprint("other", i)] = i
	}
	_, err := stepping.Next(t.Context(), w, stepping.Request{Context: variables})
	var turns *stepping.TurnsError
	if !errors.As(err, &turns) {
		t.Errorf("got %v, want a TurnsError", err)
	}
}

// TestChangedBody changes the body of a loop under a caller that has done a and b of it.
func TestChangedBody(t *testing.T) {
	body := func(ids ...string) *definition.Workflow {
		text := head + "- id: rounds\n  type: loop\n  title: t\n  loop: {type: for, count: 2, maxIterations: 5}\n  body:\n"
		for _, id := range ids {
			text += "  - {id: " + id + ", title: t, prompt: p}\n"
		}
		return parse(t, "w.yaml", []byte(text))
	}
	w := body("aaa", "bbb", "ccc")
	r := stepping.Request{}
	for range 2 {
		a, err := stepping.Next(t.Context(), w, r)
		if err != nil {
			t.Fatal(err)
		}
		r.State = a.State
	}
	for _, c := range []struct {
		name string
		ids  []string
		want string // the next step, and the pass
		warn bool
	}{
		{"nothing", []string{"aaa", "bbb", "ccc"}, "ccc 1", false},
		{"the first is gone", []string{"bbb", "ccc"}, "ccc 1", true},
		{"the last one done is gone", []string{"aaa", "ccc"}, "ccc 1", true},
		{"one more before", []string{"new", "aaa", "bbb", "ccc"}, "ccc 1", true},
		{"one more between", []string{"aaa", "bbb", "new", "ccc"}, "new 1", true},
		{"the next is gone", []string{"aaa", "bbb"}, "aaa 2", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := stepping.Next(t.Context(), body(c.ids...), r)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(a.Step.ID, " ", a.Loop.Iteration); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if warned := strings.Contains(strings.Join(a.Warnings, " "), "have changed in the file"); warned != c.warn {
				t.Errorf("got the warnings %q, want one of the change: %v", a.Warnings, c.warn)
			}
		})
	}
}

// TestChangedItems sends another list than the one with which a loop began.
func TestChangedItems(t *testing.T) {
	w := parse(t, "w.yaml", []byte(head+"- id: each\n  type: loop\n  title: t\n  loop: {type: forEach, items: files, maxIterations: 9}\n"+
		"  body: [{id: one, title: t, prompt: p}, {id: two, title: t, prompt: p}]\n"))
	list := func(text string) map[string]any {
		return map[string]any{"files": object(t, []byte(`{"x":`+text+`}`))["x"]}
	}
	first, err := stepping.Next(t.Context(), w, stepping.Request{Context: list(`["A","B","C"]`)})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ items, want string }{
		{`["A","B","C"]`, "two of 3, "},
		{`["A","B","C","D"]`, "two of 4, "},
		{`["B","C"]`, "error"},
		{`[]`, "error"},
		{`["B","A","C"]`, `two of 3, item 1 of "files" is another one than when pass 1 of the loop "each" began`},
	} {
		a, err := stepping.Next(t.Context(), w, stepping.Request{State: first.State, Context: list(c.items)})
		got := "error"
		if err == nil {
			got = fmt.Sprintf("%s of %d, %s", a.Step.ID, *a.Loop.Total, strings.Join(a.Warnings, " "))
		} else if loop := new(stepping.LoopError); !errors.As(err, &loop) || !strings.Contains(err.Error(), "whole list of 3 items") {
			t.Errorf("%s: got %v, want a LoopError that asks for the whole list", c.items, err)
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.items, got, c.want)
		}
	}
}

// TestFilledInOnce gives variables values with braces, which stay as they are wherever the values stand in a prompt.
func TestFilledInOnce(t *testing.T) {
	w := parse(t, "w.yaml", []byte(head+`- id: both
  type: parallel
  title: Both of {{what}}
  parallelDelegations: [{workflowId: part, goal: "do {{what}}", args: {side: "<{{what}}>"}, contextMapping: {what: what}}]
  synthesis: {prompt: "join {{what}}"}
- {id: plain, title: t, prompt: "plain {{what}}"}
`))
	variables := map[string]any{"what": "{{secret}}", "secret": "hidden"}
	for _, done := range [][]string{nil, {"both"}} {
		a, err := stepping.Next(t.Context(), w, stepping.Request{Completed: done, Context: variables})
		if err != nil || !strings.Contains(a.Prompt, "{{secret}}") || strings.Contains(a.Prompt, "hidden") || strings.Contains(a.Prompt, "{{what}}") {
			t.Errorf("got %s and %v, want the values as they are", a.Prompt, err)
		}
	}
}
