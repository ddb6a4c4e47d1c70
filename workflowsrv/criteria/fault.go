package criteria

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/document"
	"github.com/mcp-workbench/workbench/internal/nearest"
)

// What one schema rule says about an output, at most: beyond it nobody reads on, and an output may have a fault in
// every one of its values.
const (
	maxFaults     = 50   // places
	maxFaultNodes = 200  // nodes, those of alternatives included
	maxCandidates = 1000 // properties among which a missing one is looked for
	maxPlace      = 200  // characters of a JSON pointer
)

// explainFaults gives a node for each place of v that does not satisfy its part of the schema, in a stable order.
func explainFaults(e *jsonschema.ValidationError, v any) []*Node {
	x := &explainer{value: v, left: maxFaultNodes}
	return x.explain(e)
}

type explainer struct {
	value any // that the schema was held against
	left  int // nodes that may still be made
}

func (x *explainer) explain(e *jsonschema.ValidationError) []*Node {
	var places []*jsonschema.ValidationError
	collect(e, &places)
	sortPlaces(&places)
	var nodes []*Node
	for _, place := range places {
		nodes = append(nodes, x.nodes(place)...)
	}
	return nodes
}

// collect gathers the faults under e, without what only groups them. Of very many it keeps the first places.
func collect(e *jsonschema.ValidationError, places *[]*jsonschema.ValidationError) {
	switch e.ErrorKind.(type) {
	case nil: // an error of which the library wants to know no more than that it is one
		return
	case *kind.Schema, *kind.Group, *kind.AllOf, *kind.Reference:
		for _, cause := range e.Causes {
			collect(cause, places)
		}
		return
	}
	*places = append(*places, e)
	if len(*places) >= 10*maxFaults {
		sortPlaces(places)
	}
}

func sortPlaces(places *[]*jsonschema.ValidationError) {
	slices.SortStableFunc(*places, func(a, b *jsonschema.ValidationError) int {
		return cmp.Or(slices.CompareFunc(a.InstanceLocation, b.InstanceLocation, compareTokens), strings.Compare(a.SchemaURL, b.SchemaURL),
			slices.Compare(a.ErrorKind.KeywordPath(), b.ErrorKind.KeywordPath()))
	})
	*places = (*places)[:min(len(*places), maxFaults)]
}

// compareTokens orders the names in an object by text, and the items of an array by number.
func compareTokens(a, b string) int {
	i, errA := strconv.Atoi(a)
	j, errB := strconv.Atoi(b)
	if errA == nil && errB == nil {
		return cmp.Compare(i, j)
	}
	return strings.Compare(a, b)
}

// nodes explains one fault, which may name several properties.
func (x *explainer) nodes(e *jsonschema.ValidationError) []*Node {
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		return each(k.Missing, func(name string) *Node { return x.missing(e, name) })
	case *kind.AdditionalProperties:
		return each(slices.Sorted(slices.Values(k.Properties)), func(name string) *Node { return x.extra(e, name) })
	case *kind.AnyOf:
		return each([]string{"must match at least one alternative"}, func(must string) *Node { return x.alternatives(e, must) })
	case *kind.OneOf:
		return each([]string{oneOf(k)}, func(must string) *Node { return x.alternatives(e, must) })
	}
	must, got := document.Expectation(e.ErrorKind, lookup(x.value, e.InstanceLocation))
	return each([]string{must}, func(must string) *Node {
		n := x.node(e, must, got)
		if enum, ok := e.ErrorKind.(*kind.Enum); n != nil && ok {
			if meant := document.MeantValue(enum); meant != "" {
				n.mend[0] += fmt.Sprintf(" Is %q meant?", meant)
			}
		}
		return n
	})
}

// each makes a node for each of texts, as long as there may be more.
func each(texts []string, node func(string) *Node) []*Node {
	var nodes []*Node
	for _, text := range texts {
		n := node(text)
		if n == nil {
			break
		}
		nodes = append(nodes, n)
	}
	return nodes
}

// node gives nil once there are enough.
func (x *explainer) node(e *jsonschema.ValidationError, must, got string) *Node {
	if x.left == 0 {
		return nil
	}
	x.left--
	path := ""
	for _, token := range e.InstanceLocation {
		path = pointer(path, token)
	}
	n := &Node{Kind: "false", Outcome: Failed, Expected: must, Got: got, Where: cut.After(spot(path), maxPlace)}
	if keywords := e.ErrorKind.KeywordPath(); len(keywords) > 0 {
		n.Kind = keywords[0]
	}
	n.mend = []string{fmt.Sprintf("At %s: %s, got %s.", n.Where, must, got)}
	return n
}

func (x *explainer) missing(e *jsonschema.ValidationError, name string) *Node {
	object, _ := lookup(x.value, e.InstanceLocation).(map[string]any)
	n := x.node(e, "must have the property "+strconv.Quote(name), document.Brief(object))
	if n == nil {
		return nil
	}
	n.Property = name
	n.mend[0] = fmt.Sprintf("At %s: add the property %q.", n.Where, name)
	names := sortedKeys(object)
	if near := nearest.Names(name, names[:min(len(names), maxCandidates)], 1); len(near) > 0 {
		n.mend[0] = fmt.Sprintf("At %s: add the property %q; is %q meant to be it?", n.Where, name, near[0])
	}
	return n
}

func (x *explainer) extra(e *jsonschema.ValidationError, name string) *Node {
	n := x.node(e, "must not have the property "+quote(name), "it")
	if n != nil {
		n.Property = name
		n.mend[0] = fmt.Sprintf("At %s: take out the property %s.", n.Where, quote(name))
	}
	return n
}

func oneOf(k *kind.OneOf) string {
	if len(k.Subschemas) < 2 {
		return "must match exactly one alternative"
	}
	return fmt.Sprintf("must match exactly one alternative, matches number %d and number %d", k.Subschemas[0]+1, k.Subschemas[1]+1)
}

// alternatives explains an anyOf or oneOf. What to do is said for the alternative that came furthest.
func (x *explainer) alternatives(e *jsonschema.ValidationError, must string) *Node {
	n := x.node(e, must, document.Brief(lookup(x.value, e.InstanceLocation)))
	if n == nil {
		return nil
	}
	furthest := -1
	for i, cause := range e.Causes {
		branch := x.node(cause, "alternative "+strconv.Itoa(i+1), n.Got)
		if branch == nil {
			break
		}
		branch.Kind, branch.Where, branch.Children = "alternative", n.Where, x.explain(cause)
		n.Children = append(n.Children, branch)
		left := maxFaultNodes
		if d := reach(cause, &left); d > furthest {
			furthest = d
			n.mend = []string{fmt.Sprintf("At %s: %s; nearest is alternative %d:", n.Where, must, i+1)}
			for _, child := range branch.Children {
				n.mend[0] += " " + strings.Join(child.mend, " ")
			}
		}
	}
	return n
}

// reach is how deep in the value the deepest of the first faults under e lies: where one lies deep, what is around it
// fits.
func reach(e *jsonschema.ValidationError, left *int) int {
	deepest := len(e.InstanceLocation)
	for _, cause := range e.Causes {
		if *left--; *left < 0 {
			break
		}
		deepest = max(deepest, reach(cause, left))
	}
	return deepest
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

// quote shows a passage in at most 60 characters.
func quote(s string) string { return fmt.Sprintf("%q", cut.After(s, 60)) }

// place names a byte offset of the output as a reader counts it.
func place(output string, at int) string {
	before := output[:at]
	line := strings.Count(before, "\n") + 1
	column := len([]rune(before[strings.LastIndexByte(before, '\n')+1:])) + 1
	return fmt.Sprintf("line %d, column %d", line, column)
}
