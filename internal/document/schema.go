package document

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// A Schema judges documents by a JSON Schema and words what it finds. Any number of goroutines may use one. Beside the
// keywords of JSON Schema it knows errorMessage, the words for a pattern that does not match.
type Schema struct {
	// Unknown, if not nil, words the fault of a key of n that the schema does not know; "" leaves it to the Schema. It
	// is set before the first Check.
	Unknown func(n *Node, key string) string

	schema *jsonschema.Schema
	raw    any // the schema itself, to look up which keys an object may have
}

// NewSchema compiles a schema that is part of the program, and panics where it is none.
func NewSchema(text []byte) *Schema {
	const url = "workbench:///schema" // what is no URL would be a file of the folder that the program was started in
	raw, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		panic("an embedded schema is not JSON: " + err.Error())
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(url, raw); err != nil {
		panic("an embedded schema cannot be added: " + err.Error())
	}
	return &Schema{schema: c.MustCompile(url), raw: raw}
}

// Check adds the faults of the document.
func (c *Schema) Check(doc *Node, fs *Faults) {
	if bad, ok := errors.AsType[*jsonschema.ValidationError](c.schema.Validate(doc.Decoded())); ok {
		c.report(bad, doc, fs)
	}
}

// report adds the faults at the leaves of the tree of errors.
func (c *Schema) report(e *jsonschema.ValidationError, doc *Node, fs *Faults) {
	at, path := doc.At(e.InstanceLocation), Pointer(e.InstanceLocation...)
	switch k := e.ErrorKind.(type) {
	case *kind.AnyOf:
		if names := requiredNames(e); len(names) > 0 {
			fs.Add(at, path, "needs one of %s", Quoted(names))
			return
		}
	case *kind.Required:
		for _, name := range k.Missing {
			fs.Add(at, path, "%q is missing", name)
		}
		return
	case *kind.AdditionalProperties:
		allowed := c.allowed(e.SchemaURL)
		for _, name := range slices.Sorted(slices.Values(k.Properties)) {
			path := Pointer(append(slices.Clone(e.InstanceLocation), name)...)
			if c.Unknown != nil {
				if words := c.Unknown(at, name); words != "" {
					fs.Add(at.KeyOf(name), path, "%s", words)
					continue
				}
			}
			fs.Add(at.KeyOf(name), path, "unknown key %q%s", name, fs.DidYouMean(name, allowed))
		}
		return
	}
	if len(e.Causes) > 0 {
		for _, cause := range e.Causes {
			c.report(cause, doc, fs)
		}
		return
	}
	must, got := Expectation(e.ErrorKind, at.Decoded())
	hint := ""
	switch k := e.ErrorKind.(type) {
	case *kind.Pattern:
		if words, ok := c.at(e.SchemaURL)["errorMessage"].(string); ok {
			must = words
		}
	case *kind.Enum:
		if meant := MeantValue(k); meant != "" {
			hint = fmt.Sprintf("; did you mean %q?", meant)
		}
	case *kind.Type:
		if slices.Equal(k.Want, []string{"string"}) && (at.Kind == Number || at.Kind == Boolean) {
			hint = "; put quotes around it"
		}
	}
	fs.Add(at, path, "%s, got %s%s", must, got, hint)
}

// requiredNames returns the names that an anyOf asks for when all of its branches only ask for a key to be there, and
// nil otherwise.
func requiredNames(e *jsonschema.ValidationError) []string {
	var names []string
	for _, cause := range e.Causes {
		k, ok := cause.ErrorKind.(*kind.Required)
		if !ok {
			return nil
		}
		names = append(names, k.Missing...)
	}
	return names
}

// allowed lists the names of the properties in the schema at url.
func (c *Schema) allowed(url string) []string {
	properties, _ := c.at(url)["properties"].(map[string]any)
	return slices.Sorted(maps.Keys(properties))
}

// at looks up a part of the schema, nil if it is no object.
func (c *Schema) at(url string) map[string]any {
	_, fragment, _ := strings.Cut(url, "#")
	at := c.raw
	for _, token := range Tokens(fragment) {
		switch v := at.(type) {
		case map[string]any:
			at = v[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			at = v[i]
		}
	}
	schema, _ := at.(map[string]any)
	return schema
}

// Quoted lists names, each in quotes.
func Quoted(names []string) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = strconv.Quote(name)
	}
	return strings.Join(list, ", ")
}
