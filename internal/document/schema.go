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
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// A Schema judges documents by a JSON Schema and words what it finds. Any
// number of goroutines may use one. Beside the keywords of JSON Schema it knows
// errorMessage, the words for a pattern that does not match.
type Schema struct {
	// Unknown, if not nil, words the fault of a key of n that the schema does
	// not know; "" leaves it to the Schema. It is set before the first Check.
	Unknown func(n *Node, key string) string

	schema  *jsonschema.Schema
	raw     any // the schema itself, to look up which keys an object may have
	printer *message.Printer
}

// NewSchema compiles a schema that is part of the program, and panics where
// it is none. The name appears in nothing that a Schema says.
func NewSchema(name string, text []byte) *Schema {
	raw, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		panic("the embedded schema " + name + " is not JSON: " + err.Error())
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name, raw); err != nil {
		panic("the embedded schema " + name + " cannot be added: " + err.Error())
	}
	return &Schema{
		schema:  c.MustCompile(name),
		raw:     raw,
		printer: message.NewPrinter(language.English),
	}
}

// Check adds the faults of the document.
func (c *Schema) Check(doc *Node, fs *Faults) {
	var bad *jsonschema.ValidationError
	if err := c.schema.Validate(doc.Decoded()); errors.As(err, &bad) {
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
	fs.Add(at, path, "%s", c.wording(e, at))
}

// wording says in plain words what is wrong with the value at n.
func (c *Schema) wording(e *jsonschema.ValidationError, n *Node) string {
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		return "must be " + strings.Join(k.Want, " or ") + ", is " + k.Got
	case *kind.Pattern:
		if words, ok := c.at(e.SchemaURL)["errorMessage"].(string); ok {
			return words
		}
		return "must match " + k.Want
	case *kind.MinLength:
		if k.Got == 0 {
			return "is empty"
		}
		return fmt.Sprintf("has too few characters: %d, at least %d are needed", k.Got, k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("has too many characters: %d, at most %d are allowed", k.Got, k.Want)
	case *kind.MinItems:
		if k.Got == 0 {
			return "is empty"
		}
		return fmt.Sprintf("has too few items: %d, at least %d are needed", k.Got, k.Want)
	case *kind.Minimum:
		return fmt.Sprintf("is %s; at least %s is needed", k.Got.RatString(), k.Want.RatString())
	case *kind.Maximum:
		return fmt.Sprintf("is %s; at most %s is allowed", k.Got.RatString(), k.Want.RatString())
	case *kind.UniqueItems:
		return fmt.Sprintf("items %d and %d are equal", k.Duplicates[0], k.Duplicates[1])
	case *kind.MinProperties:
		return "is empty"
	case *kind.MaxProperties:
		return "only one of its keys may be given"
	}
	return strings.TrimPrefix(e.ErrorKind.LocalizedString(c.printer), "value ")
}

// requiredNames returns the names that an anyOf asks for when all of its
// branches only ask for a key to be there, and nil otherwise.
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
