package runs

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// prompt is the prompt of the step with how to go on. joined, unless it is "", takes its place.
func (s *standing) prompt(joined string) string {
	step := s.next.Step
	var b strings.Builder
	b.WriteString(step.Title + "\n\n" + cmp.Or(joined, s.next.Prompt))
	want := `"notes":"…"`
	if step.Criteria != nil {
		want = `"output":"…"`
	}
	fmt.Fprintf(&b, "\n\nThen workflow_next {\"run\":%q,\"step\":%q,%s%s}", s.r.ID, s.ref(), want, s.unset())
	if step.Criteria != nil {
		b.WriteString(", checked for: " + strings.Join(s.next.ValidationCriteria, "; "))
	}
	loop := ""
	if s.next.Loop != nil {
		loop = s.next.Loop.ID
	}
	var r refusal
	r.judgeArtifacts(s.w, step, loop, submission{})
	if len(r.artifacts) > 0 {
		b.WriteString("\nWith \"artifacts\":[" + strings.Join(r.artifacts, ",") + "], filled in by what you found.")
	}
	return b.String()
}

// unset is the part of a call that has the variables which the step speaks of, conditions test and nobody has set.
func (s *standing) unset() string {
	var names []string
	for _, name := range s.next.Step.Mentioned() {
		_, set := s.r.context[name]
		if l := s.next.Loop; l != nil && !set {
			_, set = l.Variables[name]
		}
		if !set {
			names = append(names, fmt.Sprintf("%q:…", name))
		}
	}
	if names == nil {
		return ""
	}
	return `,"context":{` + strings.Join(names, ",") + "}"
}

// refused words what keeps the next step from being handed out.
func (s *standing) refused(r refusal) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Step %s of %s is not done yet:", s.next.Step.ID, s.r.ID)
	for _, reason := range r.reasons {
		b.WriteString("\n- " + reason.What)
		if reason.Why != "" {
			b.WriteString(" (" + reason.Why + ")")
		}
	}
	call := fmt.Sprintf(`{"run":%q,"step":%q,`, s.r.ID, s.ref())
	switch sample := r.template(); {
	case sample != "":
		b.WriteString("\n\nThis form would pass; fill in what you really found: workflow_next " + call + sample + "}")
	case s.next.Step.Criteria == nil && len(r.artifacts) == 0:
		b.WriteString("\n\nReport the result: workflow_next " + call + `"notes":"…"` + s.unset() + "}")
	default:
		b.WriteString("\n\nCorrect the output and send it again: workflow_next " + call + `"output":"…"` + s.unset() + "}")
	}
	return b.String()
}

// moment writes a time for who is somewhere else than workbench.
func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// recap says what was done so far, for who comes new to the run.
func (s *standing) recap(until *time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "This is %s of the workflow %s", s.r.ID, s.r.Workflow)
	if s.r.Goal != "" {
		b.WriteString(". Its goal: " + s.r.Goal)
	}
	if until != nil {
		fmt.Fprintf(&b, "\nIt expires at %s unless it goes on.", moment(*until))
	}
	line := s.r.Line()
	var done []Event
	for _, i := range line {
		if s.r.Events[i].Kind == Done {
			done = append(done, s.r.Events[i])
		}
	}
	if len(done) > 0 {
		b.WriteString("\n\nDone so far:")
	}
	const shown = 12
	if len(done) > shown {
		fmt.Fprintf(&b, "\n- %d steps before", len(done)-shown)
		done = done[len(done)-shown:]
	}
	for _, e := range done {
		b.WriteString("\n- " + e.Step)
		if e.Pass > 0 {
			fmt.Fprintf(&b, " (pass %d)", e.Pass)
		}
		if text := brief(e); text != "" {
			b.WriteString(": " + text)
		}
	}
	if text, err := wire.Encode(s.r.context); err == nil && len(s.r.context) > 0 && len(text) < 2<<10 {
		b.WriteString("\n\nContext: " + string(text))
	}
	return b.String()
}

// brief is what an event says came of a step, in a line.
func brief(e Event) string {
	text := cmp.Or(e.Notes, e.Output, string(e.Result))
	return cut.After(strings.Join(strings.Fields(text), " "), 300)
}

// result is what the last step of the run has brought, cut to so many characters: what its agent said of it and put out,
// or what workbench set by it.
func (r *Run) result(most int) string {
	var parts []string
	for _, text := range []string{r.last.Notes, r.last.Output} {
		if text = strings.TrimSpace(text); text != "" {
			parts = append(parts, text)
		}
	}
	if parts == nil {
		parts = []string{string(r.last.Context)}
	}
	text := strings.Join(parts, "\n")
	if short := cut.After(text, most); short != text {
		text = short + fmt.Sprintf(" (all of it is in the resource workbench://runs/%s)", r.ID)
	}
	return text
}

// rules are those of the workflow that the prompt does not have.
func rules(w *definition.Workflow, prompt string) string {
	var b strings.Builder
	for _, part := range []struct {
		title string
		texts []string
	}{{"Before it starts", w.Preconditions}, {"Settle first", w.ClarificationPrompts}, {"Rules throughout", w.MetaGuidance}} {
		if len(part.texts) == 0 || strings.Contains(prompt, part.texts[0]) {
			continue
		}
		b.WriteString(part.title + ":\n- " + strings.Join(part.texts, "\n- ") + "\n\n")
	}
	return b.String()
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + strings.TrimSuffix(reason, ".")
}

// quoted writes a JSON string.
func quoted(text string) string { return string(wire.AppendQuote(nil, text)) }
