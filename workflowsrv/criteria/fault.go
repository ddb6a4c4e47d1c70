package criteria

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/mcp-workbench/workbench/internal/nearest"
)

// maxFaults bounds how many places of an output one schema rule names.
const maxFaults = 50

// explainFaults gives a node for each place of v that does not satisfy its part of the schema, in a stable order.
func explainFaults(e *jsonschema.ValidationError, v any) []*Node {
	var nodes []*Node
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.AllOf, *kind.Reference:
		for _, cause := range e.Causes {
			nodes = append(nodes, explainFaults(cause, v)...)
		}
	case *kind.Required:
		for _, name := range k.Missing {
			nodes = append(nodes, missingProperty(e, v, name))
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			n := faultNode(e, "must not have the property "+strconv.Quote(name), "it")
			n.mend = fmt.Sprintf("At %s: take out the property %q.", n.Where, name)
			nodes = append(nodes, n)
		}
	case *kind.AnyOf:
		nodes = []*Node{alternatives(e, v, "must match at least one alternative")}
	case *kind.OneOf:
		nodes = []*Node{alternatives(e, v, oneOf(k))}
	default:
		must, got := expectation(e.ErrorKind)
		if got == "" {
			got = brief(lookup(v, e.InstanceLocation))
		}
		n := faultNode(e, must, got)
		if enum, ok := k.(*kind.Enum); ok {
			n.mend += nearestValue(enum)
		}
		nodes = []*Node{n}
	}
	slices.SortStableFunc(nodes, func(a, b *Node) int {
		return strings.Compare(a.Where+"\x00"+a.Expected, b.Where+"\x00"+b.Expected)
	})
	return nodes[:min(len(nodes), maxFaults)]
}

func faultNode(e *jsonschema.ValidationError, must, got string) *Node {
	path := ""
	for _, token := range e.InstanceLocation {
		path = pointer(path, token)
	}
	n := &Node{Kind: "false", Outcome: Failed, Expected: must, Got: got, Where: spot(path)}
	if keywords := e.ErrorKind.KeywordPath(); len(keywords) > 0 {
		n.Kind = keywords[0]
	}
	n.mend = fmt.Sprintf("At %s: %s, got %s.", n.Where, must, got)
	return n
}

func missingProperty(e *jsonschema.ValidationError, v any, name string) *Node {
	object, _ := lookup(v, e.InstanceLocation).(map[string]any)
	n := faultNode(e, "must have the property "+strconv.Quote(name), brief(object))
	n.mend = fmt.Sprintf("At %s: add the property %q.", n.Where, name)
	if near := nearest.Names(name, sortedKeys(object), 1); len(near) > 0 {
		n.mend = fmt.Sprintf("At %s: add the property %q; is %q meant to be it?", n.Where, name, near[0])
	}
	return n
}

func oneOf(k *kind.OneOf) string {
	if len(k.Subschemas) < 2 {
		return "must match exactly one alternative"
	}
	return fmt.Sprintf("must match exactly one alternative, matches number %d and number %d", k.Subschemas[0]+1, k.Subschemas[1]+1)
}

// alternatives explains an anyOf or oneOf. The mend is that of the alternative that came furthest.
func alternatives(e *jsonschema.ValidationError, v any, must string) *Node {
	n := faultNode(e, must, brief(lookup(v, e.InstanceLocation)))
	furthest := -1
	for i, cause := range e.Causes {
		branch := &Node{Kind: "alternative", Outcome: Failed, Where: n.Where, Expected: "alternative " + strconv.Itoa(i+1)}
		branch.Children = explainFaults(cause, v)
		n.Children = append(n.Children, branch)
		if d := depth(cause) - len(branch.Children); i == 0 || d > furthest {
			furthest = d
			n.mend = fmt.Sprintf("At %s: %s; nearest is alternative %d:", n.Where, must, i+1)
			for _, child := range branch.Children {
				n.mend += " " + child.mend
			}
		}
	}
	return n
}

// depth weighs how far into the value an error lies: a fault deep inside means that what is around it fits.
func depth(e *jsonschema.ValidationError) int {
	d := 10 * len(e.InstanceLocation)
	for _, cause := range e.Causes {
		d = max(d, depth(cause))
	}
	return d
}

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
	case *kind.MinProperties:
		return fmt.Sprintf("must have at least %d properties", k.Want), fmt.Sprintf("%d properties", k.Got)
	case *kind.MaxProperties:
		return fmt.Sprintf("must have at most %d properties", k.Want), fmt.Sprintf("%d properties", k.Got)
	case *kind.Minimum:
		return "must be at least " + k.Want.RatString(), ""
	case *kind.Maximum:
		return "must be at most " + k.Want.RatString(), ""
	case *kind.ExclusiveMinimum:
		return "must be greater than " + k.Want.RatString(), ""
	case *kind.ExclusiveMaximum:
		return "must be less than " + k.Want.RatString(), ""
	case *kind.MultipleOf:
		return "must be a multiple of " + k.Want.RatString(), ""
	}
	return "must satisfy the schema: " + k.LocalizedString(message.NewPrinter(language.English)), ""
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

// lookup finds the value at a place that exists in v, or nil.
func lookup(v any, tokens []string) any {
	for _, token := range tokens {
		switch parent := v.(type) {
		case map[string]any:
			v = parent[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(parent) {
				return nil
			}
			v = parent[i]
		default:
			return nil
		}
	}
	return v
}

// brief shows a value in a few words.
func brief(v any) string {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			return "an empty object"
		}
		return "an object with " + cut(strings.Join(sortedKeys(v), ", "), 60)
	case []any:
		return fmt.Sprintf("an array of %d", len(v))
	}
	b, err := json.Marshal(v)
	if err != nil {
		return article(v)
	}
	return cut(string(b), 60)
}
