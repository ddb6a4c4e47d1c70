package definition

import (
	"bytes"
	_ "embed"
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

//go:embed workflow.schema.json
var schemaJSON []byte

// Schema returns the JSON Schema (draft-07) of workflow files. It covers the
// formats 0.0.4 to v0.3.0. The caller owns the bytes.
func Schema() []byte { return bytes.Clone(schemaJSON) }

const schemaURL = "workflow.schema.json"

// A schemaChecker judges documents by the schema and words what it finds.
type schemaChecker struct {
	schema  *jsonschema.Schema
	raw     any // the schema itself, to look up which keys an object may have
	printer *message.Printer
}

// newSchemaChecker compiles the embedded schema, which cannot fail in a build
// that passes its tests.
func newSchemaChecker() *schemaChecker {
	raw, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemaJSON))
	if err != nil {
		panic("the embedded workflow schema is not JSON: " + err.Error())
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(schemaURL, raw); err != nil {
		panic("the embedded workflow schema cannot be added: " + err.Error())
	}
	return &schemaChecker{
		schema:  c.MustCompile(schemaURL),
		raw:     raw,
		printer: message.NewPrinter(language.English),
	}
}

// check adds the faults of the document.
func (c *schemaChecker) check(doc *node, fs *faults) {
	var bad *jsonschema.ValidationError
	if err := c.schema.Validate(doc.decoded()); errors.As(err, &bad) {
		c.report(bad, doc, fs)
	}
}

// report adds the faults at the leaves of the tree of errors.
func (c *schemaChecker) report(e *jsonschema.ValidationError, doc *node, fs *faults) {
	at, path := doc.at(e.InstanceLocation), pointer(e.InstanceLocation...)
	switch k := e.ErrorKind.(type) {
	case *kind.AnyOf:
		if names := requiredNames(e); len(names) > 0 {
			fs.add(at, path, "needs one of %s", quoted(names))
			return
		}
	case *kind.Required:
		for _, name := range k.Missing {
			fs.add(at, path, "%q is missing", name)
		}
		return
	case *kind.AdditionalProperties:
		allowed := c.allowed(e.SchemaURL)
		for _, name := range slices.Sorted(slices.Values(k.Properties)) {
			path := pointer(append(slices.Clone(e.InstanceLocation), name)...)
			if name == "type" && at.str(name) == "loop" {
				fs.add(at.keyOf(name), path, "a loop cannot stand inside a loop")
				continue
			}
			fs.add(at.keyOf(name), path, "unknown key %q%s", name, fs.didYouMean(name, allowed))
		}
		return
	}
	if len(e.Causes) > 0 {
		for _, cause := range e.Causes {
			c.report(cause, doc, fs)
		}
		return
	}
	fs.add(at, path, "%s", c.wording(e, at))
}

// wording says in plain words what is wrong with the value at n.
func (c *schemaChecker) wording(e *jsonschema.ValidationError, n *node) string {
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
func (c *schemaChecker) allowed(url string) []string {
	properties, _ := c.at(url)["properties"].(map[string]any)
	return slices.Sorted(maps.Keys(properties))
}

// at looks up a part of the schema, nil if it is no object.
func (c *schemaChecker) at(url string) map[string]any {
	_, fragment, _ := strings.Cut(url, "#")
	at := c.raw
	for _, token := range tokens(fragment) {
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

func quoted(names []string) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = strconv.Quote(name)
	}
	return strings.Join(list, ", ")
}
