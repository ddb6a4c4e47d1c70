package stepping

import (
	"encoding/json"
	"fmt"
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
	if a.Loop != nil {
		dst = append(append(dst, `,"loop":`...), asText(a.Loop)...)
	}
	if a.State != "" {
		dst = wire.AppendQuote(append(dst, `,"state":`...), a.State)
	}
	return append(dst, '}')
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
func asText(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
