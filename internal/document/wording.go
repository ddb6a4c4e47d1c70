package document

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/nearest"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Expectation words what a JSON Schema finds wrong with a value: what must be, and what is instead. It is the only
// place that has words for the keywords of JSON Schema.
func Expectation(k jsonschema.ErrorKind, value any) (must, got string) {
	if must, got = expectation(k); got == "" {
		got = Brief(value)
	}
	return must, got
}

// expectation leaves got empty where the value itself shows it.
func expectation(k jsonschema.ErrorKind) (must, got string) {
	switch k := k.(type) {
	case *kind.Type:
		return "must be " + strings.Join(k.Want, " or "), ""
	case *kind.Enum:
		return "must be one of " + values(k.Want), ""
	case *kind.Const:
		return "must be " + Brief(k.Want), ""
	case *kind.Format:
		return fmt.Sprintf("must have the format %q", k.Want), ""
	case *kind.Pattern:
		return "must match the pattern " + k.Want, ""
	case *kind.FalseSchema:
		return "must not be there", ""
	case *kind.Not:
		return `must not match the schema under "not"`, ""
	case *kind.MinLength:
		return atLeast(k.Want, k.Got, "character", "characters")
	case *kind.MaxLength:
		return "must have at most " + counted(k.Want, "character", "characters"), counted(k.Got, "character", "characters")
	case *kind.MinItems:
		return atLeast(k.Want, k.Got, "item", "items")
	case *kind.MaxItems:
		return "must have at most " + counted(k.Want, "item", "items"), counted(k.Got, "item", "items")
	case *kind.UniqueItems:
		return "must not have equal items", fmt.Sprintf("equal items at %d and %d", k.Duplicates[0], k.Duplicates[1])
	case *kind.PropertyNames:
		return "must not have a property of the name " + strconv.Quote(cut.After(k.Property, 60)), ""
	case *kind.MinProperties:
		return atLeast(k.Want, k.Got, "property", "properties")
	case *kind.MaxProperties:
		return "must have at most " + counted(k.Want, "property", "properties"), counted(k.Got, "property", "properties")
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

func atLeast(want, got int, one, many string) (must, instead string) {
	if want == 1 {
		return "must not be empty", ""
	}
	return "must have at least " + counted(want, one, many), counted(got, one, many)
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
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
		parts[i] = Brief(v)
	}
	return strings.Join(parts, ", ")
}

// MeantValue is which of the strings that an enumeration allows is probably meant, "" if none is.
func MeantValue(k *kind.Enum) string {
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
		return near[0]
	}
	return ""
}

// Brief shows a value in a few words.
func Brief(v any) string {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			return "an empty object"
		}
		return "an object with " + cut.After(strings.Join(slices.Sorted(maps.Keys(v)), ", "), 60)
	case []any:
		return fmt.Sprintf("an array of %d", len(v))
	}
	return cut.After(string(wire.MustEncode(v)), 60)
}
