package criteria

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/nearest"
)

// expectation words a fault: what must be, and what is instead where the value itself does not show it.
func expectation(k jsonschema.ErrorKind) (must, got string) {
	switch k := k.(type) {
	case *kind.Type:
		return "must be " + strings.Join(k.Want, " or "), ""
	case *kind.Enum:
		return "must be one of " + values(k.Want), ""
	case *kind.Const:
		return "must be " + brief(k.Want), ""
	case *kind.Format:
		return fmt.Sprintf("must have the format %q", k.Want), ""
	case *kind.Pattern:
		return "must match the pattern " + k.Want, ""
	case *kind.FalseSchema:
		return "must not be there", ""
	case *kind.Not:
		return `must not match the schema under "not"`, ""
	case *kind.MinLength:
		return fmt.Sprintf("must have at least %d characters", k.Want), fmt.Sprintf("%d characters", k.Got)
	case *kind.MaxLength:
		return fmt.Sprintf("must have at most %d characters", k.Want), fmt.Sprintf("%d characters", k.Got)
	case *kind.MinItems:
		return fmt.Sprintf("must have at least %d items", k.Want), fmt.Sprintf("%d items", k.Got)
	case *kind.MaxItems:
		return fmt.Sprintf("must have at most %d items", k.Want), fmt.Sprintf("%d items", k.Got)
	case *kind.UniqueItems:
		return "must not have equal items", fmt.Sprintf("equal items at %d and %d", k.Duplicates[0], k.Duplicates[1])
	case *kind.PropertyNames:
		return fmt.Sprintf("must not have a property of the name %s", quote(k.Property)), ""
	case *kind.MinProperties:
		return fmt.Sprintf("must have at least %d properties", k.Want), fmt.Sprintf("%d properties", k.Got)
	case *kind.MaxProperties:
		return fmt.Sprintf("must have at most %d properties", k.Want), fmt.Sprintf("%d properties", k.Got)
	case *kind.Minimum:
		return "must be at least " + decimal(k.Want), ""
	case *kind.Maximum:
		return "must be at most " + decimal(k.Want), ""
	case *kind.ExclusiveMinimum:
		return "must be greater than " + decimal(k.Want), ""
	case *kind.ExclusiveMaximum:
		return "must be less than " + decimal(k.Want), ""
	case *kind.MultipleOf:
		return "must be a multiple of " + decimal(k.Want), ""
	}
	return "must satisfy the schema: " + k.LocalizedString(message.NewPrinter(language.English)), ""
}

func decimal(r *big.Rat) string {
	if r.IsInt() {
		return r.RatString()
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func values(list []any) string {
	parts := make([]string, len(list))
	for i, v := range list {
		parts[i] = brief(v)
	}
	return strings.Join(parts, ", ")
}

// nearestValue adds which of the allowed strings is probably meant.
func nearestValue(k *kind.Enum) string {
	got, ok := k.Got.(string)
	if !ok {
		return ""
	}
	var candidates []string
	for _, v := range k.Want {
		if s, ok := v.(string); ok {
			candidates = append(candidates, s)
		}
	}
	if near := nearest.Names(got, candidates, 1); len(near) > 0 {
		return fmt.Sprintf(" Is %q meant?", near[0])
	}
	return ""
}

// brief shows a value in a few words.
func brief(v any) string {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			return "an empty object"
		}
		return "an object with " + cut.After(strings.Join(sortedKeys(v), ", "), 60)
	case []any:
		return fmt.Sprintf("an array of %d", len(v))
	}
	b, err := json.Marshal(v)
	if err != nil {
		return article(v)
	}
	return cut.After(string(b), 60)
}

// quote shows a passage in at most 60 characters.
func quote(s string) string { return fmt.Sprintf("%q", cut.After(s, 60)) }

// place names a byte offset of the output as a reader counts it.
func place(output string, at int) string {
	before := output[:at]
	line := strings.Count(before, "\n") + 1
	column := len([]rune(before[strings.LastIndexByte(before, '\n')+1:])) + 1
	return fmt.Sprintf("line %d, column %d", line, column)
}
