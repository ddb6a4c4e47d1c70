package criteria

import (
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcp-workbench/workbench/internal/nearest"
)

// keywords are the members that mean something in a JSON Schema.
type keywords struct {
	always    []string // in every draft
	later     []string // from draft 2019-09 on
	besideRef []string // those that draft-07 does not ignore beside "$ref", or that demand nothing
}

func newKeywords() keywords {
	return keywords{
		always: strings.Fields(`$schema $id id $ref $comment $defs definitions title description default deprecated
			readOnly writeOnly examples type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum
			maxLength minLength pattern format contentMediaType contentEncoding items additionalItems maxItems minItems
			uniqueItems contains maxProperties minProperties required properties patternProperties additionalProperties
			dependencies propertyNames if then else allOf anyOf oneOf not`),
		later: strings.Fields(`$anchor $dynamicRef $dynamicAnchor $recursiveRef $recursiveAnchor $vocabulary prefixItems
			minContains maxContains dependentRequired dependentSchemas unevaluatedItems unevaluatedProperties contentSchema`),
		besideRef: strings.Fields(`$schema $id $ref $comment $defs definitions title description default deprecated
			readOnly writeOnly examples`),
	}
}

// check reports a member that has no effect: a demand that nobody checks is worse than an error. Names that start with
// "x-" belong to whoever uses them.
func (k keywords) check(part *jsonschema.Schema, members map[string]any) error {
	early := part.DraftVersion < 2019
	for _, name := range sortedKeys(members) {
		switch {
		case strings.HasPrefix(name, "x-"):
		case early && part.Ref != nil && !slices.Contains(k.besideRef, name):
			return fmt.Errorf(`%q has no effect beside "$ref" before draft 2019-09: move the "$ref" into an "allOf"`, name)
		case slices.Contains(k.always, name):
		case !slices.Contains(k.later, name):
			return fmt.Errorf("%q is not a keyword of JSON Schema%s", name, k.hint(name))
		case early:
			return fmt.Errorf(`%q is not a keyword of draft-07; with "$schema": "https://json-schema.org/draft/2020-12/schema" it is`, name)
		}
	}
	return nil
}

func (k keywords) hint(name string) string {
	near := nearest.Names(name, slices.Concat(k.always, k.later), 1)
	if len(near) == 0 {
		return ""
	}
	return fmt.Sprintf("; is %q meant?", near[0])
}
