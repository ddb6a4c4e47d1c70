package stepping

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// AppendJSON appends the answer as the workflow API has it.
func (a Answer) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"step":`...)
	if a.Step != nil {
		dst = append(dst, a.Step.JSON...)
	} else {
		dst = append(dst, "null"...)
	}
	dst = append(dst, `,"guidance":{"prompt":`...)
	dst = wire.AppendQuote(dst, a.Prompt)
	if a.ModelHint != "" {
		dst = wire.AppendQuote(append(dst, `,"modelHint":`...), a.ModelHint)
	}
	dst = append(dst, `,"requiresConfirmation":`...)
	dst = strconv.AppendBool(dst, a.RequiresConfirmation)
	dst = append(dst, `,"validationCriteria":`...)
	dst = appendStrings(dst, a.ValidationCriteria)
	dst = append(dst, `},"isComplete":`...)
	dst = strconv.AppendBool(dst, a.IsComplete)
	if len(a.Warnings) > 0 {
		dst = appendStrings(append(dst, `,"warnings":`...), a.Warnings)
	}
	if len(a.Missing) > 0 {
		dst = append(append(dst, `,"missing":`...), asText(a.Missing)...)
	}
	if len(a.Waiting) > 0 {
		dst = append(append(dst, `,"waiting":`...), asText(a.Waiting)...)
	}
	if a.Loop != nil {
		dst = append(append(dst, `,"loop":`...), asText(a.Loop)...)
	}
	if a.State != "" {
		dst = wire.AppendQuote(append(dst, `,"state":`...), a.State)
	}
	return append(dst, '}')
}

// askUser is what an agent is told before a step that a person must agree to.
const askUser = "Show the user what this step will do, and begin only when they have agreed."

// AppendAdvice appends, as the members of an object, what goes with the
// prompt and the published API does not have; nothing where there is none.
func (a Answer) AppendAdvice(dst []byte) []byte {
	start := len(dst)
	if a.RequiresConfirmation {
		dst = wire.AppendQuote(append(dst, `,"confirmation":`...), askUser)
	}
	for _, part := range a.parts() {
		dst = appendStrings(append(wire.AppendQuote(append(dst, ','), part.key), ':'), part.texts)
	}
	if len(dst) == start {
		return dst
	}
	dst[start] = '{'
	return append(dst, '}')
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

// Text is all that whoever does the step has to read: the prompt, and what
// goes with it.
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

// appendStrings appends an array of strings.
func appendStrings(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = wire.AppendQuote(dst, s)
	}
	return append(dst, ']')
}

// asText writes a value as JSON, without escapes that only HTML needs.
func asText(v any) string { return string(wire.MustEncode(v)) }
