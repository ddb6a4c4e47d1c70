package argument

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/jsontype"
	"github.com/mcp-workbench/workbench/internal/nearest"
)

// maxFaults is how many faults are named, and maxValues how many values of an enumeration.
const (
	maxFaults = 8
	maxValues = 20
)

// leastGuess is how long a name must be to be taken for a misspelt one: of shorter ones nearly all are alike.
const leastGuess = 3

// Check says what in arguments, a JSON object, is against the schema: parameters that are missing, that are not known,
// that are of another type, no value of an enumeration, or outside bounds. It looks as deep as the objects and lists that
// the schema names go. nil says that nothing was found. The error is a *FaultError.
func (s Schema) Check(arguments []byte) error {
	d := json.NewDecoder(bytes.NewReader(arguments))
	d.UseNumber()
	var given any
	if err := d.Decode(&given); err != nil {
		return err
	}
	c := checker{schema: s}
	c.object("", s.root, given, maxPath)
	if len(c.faults) == 0 {
		return nil
	}
	guessed := len(c.faults) == c.guesses
	if more := len(c.faults) - maxFaults; more > 0 {
		c.faults = append(c.faults[:maxFaults], fmt.Sprintf("and %d more", more))
	}
	return &FaultError{c.faults, guessed}
}

type checker struct {
	schema  Schema
	faults  []string
	guesses int // how many of the faults are none of the schema
}

func (c *checker) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Sprintf(format, args...))
}

// object checks the members of a value by a schema of an object.
func (c *checker) object(prefix string, schema any, value any, depth int) {
	given, isObject := value.(map[string]any)
	in := c.schema.resolved(schema)
	properties, _ := in["properties"].(map[string]any)
	if !isObject || depth == 0 {
		return
	}
	required, _ := in["required"].([]any)
	for _, one := range required {
		name, _ := one.(string)
		if _, ok := given[name]; !ok && name != "" {
			c.missing(prefix, name, properties[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if schema, known := properties[name]; known {
			c.value(prefix+name, schema, given[name], depth-1)
		} else if properties != nil {
			c.unknown(prefix, name, in, given)
		}
	}
}

// missing names a parameter that has to be given, with what it takes.
func (c *checker) missing(prefix, name string, schema any) {
	takes := join(jsontype.Of(c.schema.root, schema))
	if values := c.values(schema); values != nil {
		takes = "one of " + listed(values)
	}
	if takes != "" {
		takes = " (" + takes + ")"
	}
	c.fault("%s is missing%s", shown(prefix+name), takes)
}

// unknown names a parameter that the schema does not have, if it allows no others, or if one that was not given is
// nearly called so.
func (c *checker) unknown(prefix, name string, in map[string]any, given map[string]any) {
	properties := in["properties"].(map[string]any)
	var left []string
	for known := range properties {
		if _, taken := given[known]; !taken {
			left = append(left, known)
		}
	}
	slices.Sort(left)
	more, says := in["additionalProperties"]
	if says && more != false || in["patternProperties"] != nil {
		return
	}
	near, closed := nearest.Names(name, left, 1), says
	if len(name) < leastGuess && near != nil && !strings.EqualFold(near[0], name) {
		near = nil
	}
	switch {
	case near != nil:
		if !closed {
			c.guesses++
		}
		c.fault("%s is not known: did you mean %s?", shown(prefix+name), shown(prefix+near[0]))
	case closed && len(properties) > 0:
		c.fault("%s is not known; there are: %s", shown(prefix+name), shownAll(slices.Sorted(maps.Keys(properties))))
	case closed:
		c.fault("%s is not known: the tool takes no arguments", shown(prefix+name))
	}
}

// value checks one value by its schema.
func (c *checker) value(name string, schema any, value any, depth int) {
	types := jsontype.Of(c.schema.root, schema)
	got := jsontype.KindOf(value)
	if len(types) > 0 && !slices.Contains(types, got) && !(got == "integer" && slices.Contains(types, "number")) {
		c.fault("%s: must be %s, got %s", shown(name), join(types), article(got))
		return
	}
	if values := c.values(schema); values != nil {
		text, err := json.Marshal(value)
		if quoted, isText := value.(string); isText {
			text = []byte(quoted)
		}
		if err == nil && !slices.Contains(values, shown(string(text))) {
			hint := ""
			if near := nearest.Names(string(text), values, 1); near != nil {
				hint = fmt.Sprintf(" (did you mean %s?)", near[0])
			}
			c.fault("%s: must be one of %s, got %s%s", shown(name), listed(values), shown(string(text)), hint)
			return
		}
	}
	c.bounds(name, c.schema.resolved(schema), value)
	switch got {
	case "object":
		c.object(name+".", schema, value, depth)
	case "array":
		items, isSchema := c.schema.resolved(schema)["items"].(map[string]any)
		for i, item := range value.([]any) {
			if isSchema && depth > 0 {
				c.value(fmt.Sprintf("%s[%d]", name, i), items, item, depth-1)
			}
		}
	}
}

// bounds checks a value by how large it may be, or how long.
func (c *checker) bounds(name string, in map[string]any, value any) {
	var size float64
	least, most, of := "minimum", "maximum", ""
	switch v := value.(type) {
	case json.Number:
		size, _ = v.Float64()
		if least, ok := in["exclusiveMinimum"].(float64); ok && size <= least {
			c.fault("%s: must be more than %s, got %s", shown(name), number(least), v)
		}
		if most, ok := in["exclusiveMaximum"].(float64); ok && size >= most {
			c.fault("%s: must be less than %s, got %s", shown(name), number(most), v)
		}
	case string:
		size, least, most, of = float64(utf8.RuneCountInString(v)), "minLength", "maxLength", " characters"
	case []any:
		size, least, most, of = float64(len(v)), "minItems", "maxItems", " items"
	default:
		return
	}
	if bound, ok := in[least].(float64); ok && size < bound {
		c.fault("%s: must be at least %s%s, got %s", shown(name), number(bound), of, number(size))
	}
	if bound, ok := in[most].(float64); ok && size > bound {
		c.fault("%s: must be at most %s%s, got %s", shown(name), number(bound), of, number(size))
	}
}

// number gives a number as it is read most easily.
func number(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// values are those of the enumeration of a schema, nil if it has none that can be named.
func (c *checker) values(schema any) []string {
	in := c.schema.resolved(schema)
	list, _ := in["enum"].([]any)
	var values []string
	for _, one := range list {
		text, isText := one.(string)
		if !isText {
			raw, err := json.Marshal(one)
			if err != nil {
				return nil
			}
			text = string(raw)
		}
		values = append(values, shown(text))
	}
	return values
}

// shown is a word of a schema, or of the person, as it can be printed.
func shown(name string) string { return foreign.NewName(name).String() }

// listed gives words that are shown, the first of many.
func listed(words []string) string {
	if len(words) > maxValues {
		words = append(words[:maxValues:maxValues], "…")
	}
	return strings.Join(words, ", ")
}

func shownAll(names []string) string {
	words := make([]string, len(names))
	for i, name := range names {
		words[i] = shown(name)
	}
	return listed(words)
}

func join(types []string) string { return shownAll(slices.Compact(slices.Clone(types))) }

func article(kind string) string {
	switch kind {
	case "null":
		return kind
	case "integer", "object", "array":
		return "an " + kind
	}
	return "a " + kind
}
