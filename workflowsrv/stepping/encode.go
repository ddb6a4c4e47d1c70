package stepping

import (
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// AppendJSON appends the answer as the workflow API has it.
func (a Answer) AppendJSON(dst []byte) []byte {
	type guidance struct {
		Prompt               string   `json:"prompt"`
		ModelHint            string   `json:"modelHint,omitempty"`
		RequiresConfirmation bool     `json:"requiresConfirmation"`
		ValidationCriteria   []string `json:"validationCriteria"`
	}
	rest := wire.MustEncode(struct {
		Guidance   guidance  `json:"guidance"`
		IsComplete bool      `json:"isComplete"`
		Warnings   []string  `json:"warnings,omitempty"`
		Missing    []Missing `json:"missing,omitempty"`
		Waiting    []Missing `json:"waiting,omitempty"`
		Loop       *LoopPass `json:"loop,omitempty"`
		State      string    `json:"state,omitempty"`
	}{guidance{a.Prompt, a.ModelHint, a.RequiresConfirmation, append([]string{}, a.ValidationCriteria...)}, a.IsComplete, a.Warnings, a.Missing, a.Waiting, a.Loop, a.State})
	step := []byte("null")
	if a.Step != nil {
		step = a.Step.JSON // which is as large as the rest, and is JSON already
	}
	return append(append(wire.NewObject(dst).Raw("step", step), ','), rest[1:]...)
}

// askUser is what an agent is told before a step that a person must agree to.
const askUser = "Show the user what this step will do, and begin only when they have agreed."

// AppendAdvice appends, as the members of an object, what goes with the prompt and the published API does not have;
// nothing where there is none.
func (a Answer) AppendAdvice(dst []byte) []byte {
	o := wire.NewObject(dst)
	if a.RequiresConfirmation {
		o = o.Text("confirmation", askUser)
	}
	for _, part := range a.parts() {
		o = o.Raw(part.key, wire.MustEncode(part.texts))
	}
	if len(o) == len(dst)+1 {
		return dst
	}
	return o.End()
}

// A part is a list of sentences that goes with the prompt.
type part struct {
	key, title string
	texts      []string
}

func (a Answer) parts() []part {
	var all []part
	if a.Opening != nil {
		all = []part{{"preconditions", "Before you begin, make sure that", a.Opening.Preconditions},
			{"questions", "Settle these questions first", a.Opening.Questions},
			{"preferences", "How the author wants it done, unless the user says otherwise", a.Opening.Preferences}}
	}
	all = append(all, part{"rules", "Rules that hold throughout", a.Rules})
	return slices.DeleteFunc(all, func(p part) bool { return len(p.texts) == 0 })
}

// Text is all that whoever does the step has to read: the prompt, and what goes with it.
func (a Answer) Text() string {
	var b strings.Builder
	b.WriteString(a.Prompt)
	for _, part := range a.parts() {
		b.WriteString("\n\n## " + part.title + "\n- " + strings.Join(part.texts, "\n- "))
	}
	if a.RequiresConfirmation {
		b.WriteString("\n\n## Confirmation\n" + askUser)
	}
	return b.String()
}

// asText writes a value as JSON, without escapes that only HTML needs.
func asText(v any) string { return string(wire.MustEncode(v)) }
