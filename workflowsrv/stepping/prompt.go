package stepping

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// prompt puts together what the agent is to read: its role, the guidance, the prompt of the step with the fragments
// that apply, the functions the step refers to, the references (with the first step only), and the place in the loop.
func (k *walker) prompt(c *choice) (string, error) {
	var b strings.Builder
	s := c.step
	if s.AgentRole != "" {
		b.WriteString("## Agent Role Instructions\n" + Fill(s.AgentRole, c.scope) + "\n\n")
	}
	if len(s.Guidance) > 0 {
		b.WriteString("## Step Guidance\n- " + Fill(strings.Join(s.Guidance, "\n- "), c.scope) + "\n\n")
	}
	text, err := body(s, k, c)
	if err != nil {
		return "", err
	}
	b.WriteString(text)
	for _, f := range s.Fragments {
		applies, err := k.holds(s, f.When, c.scope)
		if err != nil {
			return "", err
		}
		if applies {
			b.WriteString("\n\n" + Fill(f.Text, c.scope))
		}
	}
	k.duties(&b, c)
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

// body gives the prompt proper, whichever way the step has it, filled in once: the value of a variable may have braces.
func body(s *definition.Step, k *walker, c *choice) (string, error) {
	switch {
	case s.Prompt != "":
		return Fill(s.Prompt, c.scope), nil
	case s.Blocks != nil:
		return Fill(blocks(s.Blocks), c.scope), nil
	}
	return k.parallel(c)
}

// parallel says which workflows to run side by side, and with what.
func (k *walker) parallel(c *choice) (string, error) {
	var b strings.Builder
	s := c.step
	b.WriteString(Fill(s.Title, c.scope))
	found := 0
	for _, d := range s.Delegations {
		applies, err := k.holds(s, d.When, c.scope)
		if err != nil {
			return "", err
		}
		if !applies {
			continue
		}
		if found++; found == 1 {
			b.WriteString("\n\nRun these workflows, in parallel if you can use other agents, and otherwise one after the other:")
		}
		b.WriteString("\n- " + d.WorkflowID)
		if d.Goal != "" {
			b.WriteString(": " + Fill(d.Goal, c.scope))
		}
		if variables, _ := handed(d, c.scope, maxValue, maxFilled); len(variables) > 0 {
			b.WriteString("\n  context: " + asText(variables))
		}
		if len(d.AllowedTools) > 0 {
			b.WriteString("\n  tools: only " + strings.Join(d.AllowedTools, ", "))
		}
		if hint := modelHint(d.ModelTier); hint != "" {
			b.WriteString("\n  model: " + hint)
		}
	}
	if found == 0 {
		b.WriteString("\n\nNone of the workflows of this step applies.")
	}
	if s.Synthesis != "" {
		b.WriteString("\n\nThen: " + Fill(s.Synthesis, c.scope))
	}
	return b.String(), nil
}

// Handed are the variables with which a workflow begins that is run beside. The error is an [ErrLarge].
func Handed(d definition.Delegation, scope *criteria.Scope) (map[string]any, error) {
	variables, whole := handed(d, scope, maxData, maxData)
	if !whole {
		return nil, fmt.Errorf("the context for the workflow %s: %w", d.WorkflowID, ErrLarge)
	}
	return variables, nil
}

// handed is Handed with values that have at most so many bytes each, and in a text together. whole says that no other
// was left out.
func handed(d definition.Delegation, scope *criteria.Scope, each, all int) (variables map[string]any, whole bool) {
	variables, whole = map[string]any{}, true
	for _, a := range d.Args {
		variables[a.Name] = a.Value
		if text, ok := a.Value.(string); ok {
			filled, ok := fillIn(text, scope, each, all)
			variables[a.Name], whole = filled, whole && ok
		}
	}
	for _, m := range d.Mapping {
		if v := scope.Value(m.From); v != nil && len(asText(v)) <= each {
			variables[m.To] = v
		} else if v != nil {
			whole = false
		}
	}
	return variables, whole
}

// duties says what the step owes beside its text.
func (k *walker) duties(b *strings.Builder, c *choice) {
	s := c.step
	if s.Audit != "" || len(s.Rubric) > 0 {
		b.WriteString("\n\n## Look at it once more\n" + s.Audit)
		for _, line := range s.Rubric {
			b.WriteString("\n- " + line)
		}
	}
	if s.Verification != "" || s.Command != "" {
		b.WriteString("\n\n## Verify\n" + s.Verification)
		if s.Command != "" {
			b.WriteString("\nRun: " + s.Command)
		}
	}
	for i, a := range s.Assessments {
		if i == 0 {
			b.WriteString("\n\n## Rate your result")
		}
		b.WriteString("\n- " + a.ID)
		if a.Purpose != "" {
			b.WriteString(": " + a.Purpose)
		}
		for _, d := range a.Dimensions {
			b.WriteString("\n  - " + d.ID + " (" + strings.Join(d.Levels, ", ") + ")")
			if d.Purpose != "" {
				b.WriteString(": " + d.Purpose)
			}
		}
	}
	for _, q := range s.Consequences {
		b.WriteString("\n- If it is " + q.Level)
		if q.For != "" {
			b.WriteString(" in " + q.For)
		}
		b.WriteString(": " + q.Guidance)
	}
	if s.Contract != "" && !k.request.Kept {
		b.WriteString("\n\n## Deliver\nPut out the result as JSON of the kind " + strings.Replace(s.Contract, ".contracts.", ".", 1) + ".")
	}
	if c.loop != nil && c.loop.Loop.ByArtifact && !k.request.Kept {
		fmt.Fprintf(b, "\n\n## The end of the loop\nThe loop goes on until you decide to stop it: add %q to completedSteps then.", c.loop.ID)
	}
	if k.w.Figures != "" && k.isLast(c) {
		b.WriteString("\n\n## At the end\nAlso report: " + k.w.Figures + ".")
	}
}

// isLast reports whether no step stands behind the one of c in the file.
func (k *walker) isLast(c *choice) bool {
	var last *definition.Step
	for s := range k.w.All() {
		last = s
	}
	return c.step == last
}

func blocks(p *definition.Blocks) string {
	var parts []string
	if p.Goal != "" {
		parts = append(parts, "## Goal\n"+p.Goal)
	}
	add := func(title, mark string, lines []string) {
		if len(lines) > 0 {
			parts = append(parts, title+"\n"+mark+strings.Join(lines, "\n"+mark))
		}
	}
	var procedure, required []string
	for i, line := range p.Procedure {
		procedure = append(procedure, fmt.Sprintf("%d. %s", i+1, line))
	}
	for _, d := range p.Required {
		required = append(required, d.Name+": "+d.Text)
	}
	add("## Constraints", "- ", p.Constraints)
	add("## Procedure", "", procedure)
	add("## Output Required", "- ", required)
	add("## Verify", "- ", p.Verify)
	return strings.Join(parts, "\n\n")
}

// functions shows the definitions of the functions that the step names, and the calls it asks for.
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

// A value longer than maxValue is not written into a prompt, and not more than maxFilled bytes of values in all: the
// agent has them, and a few placeholders could otherwise make a prompt without end.
const (
	maxValue  = 4 << 10
	maxFilled = 64 << 10
)

// maxData is how many bytes of values are put into one text that is handed on as data.
const maxData = 1 << 20

// ErrLarge says that the values for one text are larger than what is handed on.
var ErrLarge = fmt.Errorf("the variables in it have more than %d bytes", maxData)

// UnknownError is the name of no variable.
type UnknownError string

func (e UnknownError) Error() string { return fmt.Sprintf("the variable %q is not set", string(e)) }

// Fill puts the values of context variables in place of {{name}} in a text that somebody reads, as in prompts.
func Fill(text string, scope *criteria.Scope) string {
	filled, _ := fillIn(text, scope, maxValue, maxFilled)
	return filled
}

// FillData is Fill for a text that is handed on as data: every value is in it, whole. bare is the value where the text
// is nothing but {{name}}. The error is an [UnknownError] or [ErrLarge].
func FillData(text string, scope *criteria.Scope) (filled string, bare any, err error) {
	for _, name := range placeholders(text) {
		v, ok := lookUp(name, scope)
		if !ok {
			return "", nil, UnknownError(name)
		}
		if strings.TrimSpace(text) == text && strings.HasPrefix(text, "{{") && strings.Index(text, "}}") == len(text)-2 {
			bare = v
		}
	}
	filled, whole := fillIn(text, scope, maxData, maxData)
	if !whole {
		return "", nil, ErrLarge
	}
	return filled, bare, nil
}

// fillIn puts the values of context variables in place of {{name}}, {{name.field}} and {{name + 1}}. What names no
// variable stays as it is; so does a value of more than each bytes, or behind all bytes of them, which is not whole.
func fillIn(text string, scope *criteria.Scope, each, all int) (result string, whole bool) {
	if !strings.Contains(text, "{{") {
		return text, true
	}
	var b strings.Builder
	filled := 0
	whole = true
	for {
		before, rest, ok := strings.Cut(text, "{{")
		inner, after, closed := strings.Cut(rest, "}}")
		b.WriteString(before)
		if !ok || !closed {
			if ok {
				b.WriteString("{{" + rest)
			}
			return b.String(), whole
		}
		insert := "{{" + inner + "}}"
		if v, found := lookUp(strings.TrimSpace(inner), scope); found {
			text := ""
			if filled < all {
				text = value(v)
			}
			if filled < all && len(text) <= each {
				insert = text
			} else {
				whole = false
			}
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
		if whole, ok := new(big.Int).SetString(asText(v), 10); ok { // A float would lose digits.
			return json.Number(whole.Add(whole, big.NewInt(int64(summand))).String()), true
		}
		return number + float64(summand), true
	}
	return nil, false
}

func path(name string, scope *criteria.Scope) (any, bool) {
	if v := scope.Value(name); v != nil {
		return v, true
	}
	first, fields, ok := strings.Cut(name, ".")
	if !ok || strings.HasSuffix(name, ".") {
		return nil, false
	}
	v := scope.Value(first)
	for field := range strings.SplitSeq(fields, ".") {
		m, _ := v.(map[string]any)
		v = m[field]
	}
	return v, v != nil
}

// value writes a variable into a prompt: strings bare, all else as JSON.
func value(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return asText(v)
}
