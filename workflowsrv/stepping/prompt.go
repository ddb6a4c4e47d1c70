package stepping

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// prompt puts together what the agent is to read: its role, the guidance, the
// prompt of the step with the fragments that apply, the functions the step
// refers to, the references (with the first step only), and the place in the
// loop.
func (k *walker) prompt(c *choice) (string, error) {
	var b strings.Builder
	s := c.step
	if s.AgentRole != "" {
		b.WriteString("## Agent Role Instructions\n" + fill(s.AgentRole, c.scope) + "\n\n")
	}
	if len(s.Guidance) > 0 {
		b.WriteString("## Step Guidance\n- " + fill(strings.Join(s.Guidance, "\n- "), c.scope) + "\n\n")
	}
	text, err := body(s, k, c)
	if err != nil {
		return "", err
	}
	b.WriteString(fill(text, c.scope))
	for _, f := range s.Fragments {
		applies, err := k.holds(s, f.When, c.scope)
		if err != nil {
			return "", err
		}
		if applies {
			b.WriteString("\n\n" + fill(f.Text, c.scope))
		}
	}
	k.functions(&b, c)
	if len(k.completed) == 0 && k.request.State == "" {
		references(&b, k.w.References)
	}
	if c.pass != nil {
		loopContext(&b, c)
		if !k.request.Kept {
			b.WriteString("\n- When this step is done, call workflow_next with the \"state\" of this answer.")
		}
	}
	return b.String(), nil
}

// body gives the prompt proper, whichever way the step has it.
func body(s *definition.Step, k *walker, c *choice) (string, error) {
	switch {
	case s.Prompt != "":
		return s.Prompt, nil
	case s.Blocks != nil:
		return blocks(s.Blocks), nil
	case s.Template != "":
		return s.Title + "\n\nThis step is written elsewhere, as the template " + strconv.Quote(s.Template) +
			". Templates are not expanded here; do what the title says, with the arguments in the step.", nil
	}
	var b strings.Builder
	b.WriteString(s.Title + "\n\nRun these workflows, side by side if you can:")
	for _, d := range s.Delegations {
		applies, err := k.holds(s, d.When, c.scope)
		if err != nil {
			return "", err
		}
		if applies {
			b.WriteString("\n- " + d.WorkflowID)
			if d.Goal != "" {
				b.WriteString(": " + d.Goal)
			}
		}
	}
	if s.Synthesis != "" {
		b.WriteString("\n\nThen: " + s.Synthesis)
	}
	return b.String(), nil
}

func blocks(p *definition.Blocks) string {
	var parts []string
	if p.Goal != "" {
		parts = append(parts, "## Goal\n"+p.Goal)
	}
	if len(p.Constraints) > 0 {
		parts = append(parts, "## Constraints\n- "+strings.Join(p.Constraints, "\n- "))
	}
	if len(p.Procedure) > 0 {
		var b strings.Builder
		b.WriteString("## Procedure")
		for i, line := range p.Procedure {
			fmt.Fprintf(&b, "\n%d. %s", i+1, line)
		}
		parts = append(parts, b.String())
	}
	if len(p.Required) > 0 {
		var b strings.Builder
		b.WriteString("## Output Required")
		for _, d := range p.Required {
			b.WriteString("\n- " + d.Name + ": " + d.Text)
		}
		parts = append(parts, b.String())
	}
	if len(p.Verify) > 0 {
		parts = append(parts, "## Verify\n- "+strings.Join(p.Verify, "\n- "))
	}
	return strings.Join(parts, "\n\n")
}

// functions shows the definitions of the functions that the step names, and
// the calls it asks for.
func (k *walker) functions(b *strings.Builder, c *choice) {
	names := append([]string(nil), c.step.FunctionRefs...)
	for _, call := range c.step.FunctionCalls {
		names = append(names, call.Name)
	}
	shown := map[string]bool{}
	for _, name := range names {
		f := k.w.Function(name, c.step, c.loop)
		if f == nil || shown[name] {
			continue
		}
		if len(shown) == 0 {
			b.WriteString("\n\n## Function Definitions")
		}
		shown[name] = true
		b.WriteString("\n- " + f.Name + "(" + parameters(f) + "): " + f.Definition)
	}
	for i, call := range c.step.FunctionCalls {
		if i == 0 {
			b.WriteString("\n\n## Function Calls")
		}
		b.WriteString("\n- " + call.Name + "(" + string(call.Args) + ")")
	}
}

func parameters(f *definition.Function) string {
	list := make([]string, len(f.Parameters))
	for i, p := range f.Parameters {
		list[i] = p.Name + ": " + p.Type
		if !p.Required {
			list[i] = p.Name + "?: " + p.Type
		}
	}
	return strings.Join(list, ", ")
}

func references(b *strings.Builder, refs []definition.Reference) {
	for i, r := range refs {
		if i == 0 {
			b.WriteString("\n\n## References")
		}
		b.WriteString("\n- " + r.Title + " (" + r.Source + "): " + r.Purpose)
		if r.Authoritative {
			b.WriteString(" This document is binding.")
		}
	}
}

func loopContext(b *strings.Builder, c *choice) {
	fmt.Fprintf(b, "\n\n## Loop Context\n- Loop: %s\n- Iteration: %d", c.pass.ID, c.pass.Iteration)
	l := c.loop.Loop
	if c.pass.Total != nil {
		fmt.Fprintf(b, " of %d", *c.pass.Total)
	}
	if l.Kind == definition.ForEach {
		if item := value(c.scope.Value(l.ItemVar)); len(item) <= maxValue {
			fmt.Fprintf(b, "\n- %s: %s", l.ItemVar, item)
		}
	}
}

// A value longer than maxValue is not written into a prompt, and not more than
// maxFilled bytes of values in all: the agent has them, and a few placeholders
// could otherwise make a prompt without end.
const (
	maxValue  = 4 << 10
	maxFilled = 64 << 10
)

// fill puts the values of context variables in place of {{name}},
// {{name.field}} and {{name + 1}}. What names no variable, or a long one,
// stays as it is.
func fill(text string, scope *criteria.Scope) string {
	if !strings.Contains(text, "{{") {
		return text
	}
	var b strings.Builder
	filled := 0
	for {
		before, rest, ok := strings.Cut(text, "{{")
		inner, after, closed := strings.Cut(rest, "}}")
		b.WriteString(before)
		if !ok || !closed {
			if ok {
				b.WriteString("{{" + rest)
			}
			return b.String()
		}
		insert, ok := "", false
		if v, found := lookUp(strings.TrimSpace(inner), scope); found && filled < maxFilled {
			insert = value(v)
			ok = len(insert) <= maxValue
		}
		if !ok {
			insert = "{{" + inner + "}}"
		}
		filled += len(insert)
		b.WriteString(insert)
		text = after
	}
}

// placeholders returns what stands between {{ and }} in text.
func placeholders(text string) []string {
	var names []string
	for {
		_, rest, ok := strings.Cut(text, "{{")
		inner, after, closed := strings.Cut(rest, "}}")
		if !ok || !closed {
			return names
		}
		names = append(names, strings.TrimSpace(inner))
		text = after
	}
}

// lookUp finds a variable, a field below it, or a number with a summand.
func lookUp(name string, scope *criteria.Scope) (any, bool) {
	if v, ok := path(name, scope); ok {
		return v, true
	}
	for _, op := range []string{"+", "-"} {
		left, right, ok := strings.Cut(name, op)
		if !ok {
			continue
		}
		summand, err := strconv.Atoi(strings.TrimSpace(right))
		v, found := path(strings.TrimSpace(left), scope)
		number, isNumber := toFloat(v)
		if err != nil || !found || !isNumber {
			continue
		}
		if op == "-" {
			summand = -summand
		}
		return number + float64(summand), true
	}
	return nil, false
}

func path(name string, scope *criteria.Scope) (any, bool) {
	if v := scope.Value(name); v != nil {
		return v, true
	}
	first, rest, ok := strings.Cut(name, ".")
	for v := scope.Value(first); ok; {
		m, isObject := v.(map[string]any)
		if !isObject {
			return nil, false
		}
		if rest == "" {
			return nil, false
		}
		first, rest, ok = strings.Cut(rest, ".")
		v = m[first]
		if !ok {
			return v, v != nil
		}
	}
	return nil, false
}

// value writes a variable into a prompt: strings bare, all else as JSON.
func value(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return asText(v)
}
