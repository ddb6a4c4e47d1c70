package author

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/document"
	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/stepping"
)

// A Case is one way through a workflow, with what is expected of it.
type Case struct {
	Name string
	// Context is what is known at the start. Sets is what the agent learns in a step: each time the step comes the next
	// one counts, the last for all times after it.
	Context map[string]any
	Sets    map[string][]map[string]any
	// Outputs have to satisfy the criteria of their steps, and Rejected must not.
	Outputs, Rejected map[string][]string
	// Steps are those that have to be handed out, in this order; nil for any.
	Steps []string
	// Missing are the variables that the way ends for want of; empty for a way that ends with the last step.
	Missing []string
}

// ParseCases reads a file of cases for a workflow, in JSON or YAML.
func ParseCases(name string, data []byte, w *definition.Workflow) ([]Case, error) {
	var fs document.Faults
	doc := document.Read(name, data, &fs)
	if doc != nil && (doc.Kind != document.Object || doc.Get("cases") == nil) {
		fs.Add(doc, "", `a file of cases is an object with "cases"`)
	}
	r := &caseReader{w: w, fs: &fs}
	var cases []Case
	if len(fs) == 0 {
		list := doc.Get("cases")
		if len(list.Items) == 0 {
			fs.Add(list, "/cases", "must be a list with at least one case")
		}
		for i, n := range list.Items {
			at := fmt.Sprintf("/cases/%d", i)
			if n.Kind != document.Object {
				fs.Add(n, at, "a case is an object")
				continue
			}
			cases = append(cases, r.read(n, at))
		}
	}
	if len(fs) > 0 {
		return nil, &definition.Error{File: name, Faults: fs.Sorted()}
	}
	return cases, nil
}

type caseReader struct {
	w  *definition.Workflow
	fs *document.Faults
}

func (r *caseReader) read(n *document.Node, path string) Case {
	c := Case{Name: cmp.Or(n.Str("name"), strings.TrimPrefix(path, "/")), Sets: map[string][]map[string]any{}, Outputs: map[string][]string{}, Rejected: map[string][]string{}}
	known := []string{"name", "context", "sets", "outputs", "rejected", "steps", "missing"}
	for _, m := range n.Members {
		at := path + "/" + m.Key
		switch m.Key {
		case "name":
			r.text(m.Value, at)
		case "context":
			c.Context = r.object(m.Value, at)
		case "sets":
			r.each(m.Value, at, func(id string, v *document.Node, at string) {
				c.Sets[id] = append(c.Sets[id], r.object(v, at))
			})
		case "outputs", "rejected":
			into := c.Outputs
			if m.Key == "rejected" {
				into = c.Rejected
			}
			r.each(m.Value, at, func(id string, v *document.Node, at string) { into[id] = append(into[id], r.text(v, at)) })
		case "steps":
			c.Steps = r.texts(m.Value, at)
			for i, id := range c.Steps {
				r.step(m.Value.Items[i], at, id)
			}
		case "missing":
			c.Missing = r.texts(m.Value, at)
		default:
			r.fs.Add(m.Value, at, "unknown key %q%s", m.Key, r.fs.DidYouMean(m.Key, known))
		}
	}
	return c
}

// each goes through an object of steps, of which each has one value or a list.
func (r *caseReader) each(n *document.Node, path string, do func(id string, v *document.Node, path string)) {
	if n.Kind != document.Object {
		r.fs.Add(n, path, "must be an object whose keys are steps")
		return
	}
	for _, m := range n.Members {
		r.step(m.Value, path, m.Key)
		list := []*document.Node{m.Value}
		if m.Value.Kind == document.Array {
			list = m.Value.Items
		}
		for _, v := range list {
			do(m.Key, v, path+"/"+m.Key)
		}
	}
}

// text is a text of a case. What is something else would count as the empty one.
func (r *caseReader) text(n *document.Node, path string) string {
	if n.Kind != document.Text {
		r.fs.Add(n, path, "must be a text, got %s; put quotes around it", document.Brief(n.Decoded()))
	}
	return n.Text()
}

func (r *caseReader) texts(n *document.Node, path string) []string {
	if n.Kind != document.Array {
		r.fs.Add(n, path, "must be a list, got %s", document.Brief(n.Decoded()))
	}
	list := make([]string, len(n.Items))
	for i, item := range n.Items {
		list[i] = r.text(item, path)
	}
	return list
}

func (r *caseReader) step(n *document.Node, path, id string) {
	if r.w.Step(id) == nil {
		r.fs.Add(n, path, "there is no step %q%s", id, r.fs.DidYouMean(id, r.w.StepIDs()))
	}
}

func (r *caseReader) object(n *document.Node, path string) map[string]any {
	m, ok := n.Decoded().(map[string]any)
	if !ok {
		r.fs.Add(n, path, "must be an object of variables")
	}
	return m
}

// maxCalls ends a way that goes round for ever.
const maxCalls = 5_000

// Run walks the case and says what is otherwise than expected.
func (c Case) Run(ctx context.Context, w *definition.Workflow, mode criteria.Mode, cover *Coverage) (wrong []string, err error) {
	r := stepping.Request{Context: maps.Clone(c.Context), Mode: mode}
	if r.Context == nil {
		r.Context = map[string]any{}
	}
	came := map[string]int{}
	steps := []string{}
	for range maxCalls {
		a, err := stepping.Next(ctx, w, r)
		if err != nil {
			return append(wrong, err.Error()), ctx.Err()
		}
		if a.Step == nil {
			var missing []string
			for _, m := range a.Missing {
				missing = append(missing, m.Variable)
			}
			if !slices.Equal(missing, c.Missing) {
				wrong = append(wrong, fmt.Sprintf("ends %s, want %s", ending(missing), ending(c.Missing)))
			}
			cover.passed(w, steps)
			return append(wrong, c.compare(steps)...), nil
		}
		id := a.Step.ID
		steps = append(steps, id)
		wrong = append(wrong, c.judge(ctx, a.Step, came[id], r.Context, mode)...)
		if list := c.Sets[id]; len(list) > 0 {
			maps.Copy(r.Context, list[min(came[id], len(list)-1)])
		}
		came[id]++
		r.Completed, r.State = append(r.Completed, id), a.State
	}
	return append(wrong, fmt.Sprintf("does not end within %d steps", maxCalls)), nil
}

func ending(missing []string) string {
	if len(missing) == 0 {
		return "with the last step"
	}
	return "for want of " + strings.Join(missing, ", ")
}

// judge validates the outputs that the case has for a step.
func (c Case) judge(ctx context.Context, s *definition.Step, time int, variables map[string]any, mode criteria.Mode) (wrong []string) {
	check := func(lists map[string][]string, want bool) {
		list := lists[s.ID]
		if len(list) == 0 {
			return
		}
		output := list[min(time, len(list)-1)]
		verdict := s.Criteria.Check(ctx, output, variables, criteria.Options{Mode: mode})
		if verdict.Valid() == want {
			return
		}
		if want {
			wrong = append(wrong, fmt.Sprintf("the output of %s is not valid: %s", s.ID, strings.Join(verdict.Issues(), "; ")))
		} else {
			wrong = append(wrong, fmt.Sprintf("the output of %s should be rejected, and is valid", s.ID))
		}
	}
	check(c.Outputs, true)
	check(c.Rejected, false)
	return wrong
}

// compare tells where the steps begin to differ.
func (c Case) compare(steps []string) []string {
	if c.Steps == nil || slices.Equal(steps, c.Steps) {
		return nil
	}
	i := 0
	for i < len(steps) && i < len(c.Steps) && steps[i] == c.Steps[i] {
		i++
	}
	at := func(list []string) string {
		if i < len(list) {
			return list[i]
		}
		return "the end"
	}
	return []string{fmt.Sprintf("step %d is %s, want %s; the steps are %s", i+1, at(steps), at(c.Steps), strings.Join(steps, " "))}
}

// A Coverage gathers what the cases of a workflow went through.
type Coverage struct {
	handed  map[string]bool // steps
	skipped map[string]bool // steps whose condition did not hold
}

// passed notes a way that was walked.
func (c *Coverage) passed(w *definition.Workflow, steps []string) {
	if c.handed == nil {
		c.handed, c.skipped = map[string]bool{}, map[string]bool{}
	}
	for s := range w.All() {
		id := s.ID
		came := slices.Contains(steps, id)
		if s.Loop != nil {
			came = slices.ContainsFunc(s.Loop.Body, func(b *definition.Step) bool { return slices.Contains(steps, b.ID) })
		}
		if came {
			c.handed[id] = true
		} else if len(steps) > 0 {
			c.skipped[id] = true
		}
	}
}

// Branches counts the branches of the workflow, those that were taken, and names the others: each step is one, and one
// more if it can be left out.
func (c *Coverage) Branches(w *definition.Workflow) (taken, all int, never []string) {
	for s := range w.All() {
		all++
		if c.handed[s.ID] {
			taken++
		} else {
			never = append(never, s.ID+" is not taken")
		}
		if s.RunCondition == nil {
			continue
		}
		all++
		if c.skipped[s.ID] {
			taken++
		} else {
			never = append(never, s.ID+" is not left out")
		}
	}
	return taken, all, never
}
