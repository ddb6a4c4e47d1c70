package definition

import (
	"bytes"
	_ "embed"
	"errors"
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
			fs.add(at.keyOf(name), pointer(append(slices.Clone(e.InstanceLocation), name)...),
				"unknown key %q%s", name, didYouMean(name, allowed))
		}
		return
	}
	if len(e.Causes) > 0 {
		for _, cause := range e.Causes {
			c.report(cause, doc, fs)
		}
		return
	}
	fs.add(at, path, "%s", c.wording(e.ErrorKind, at))
}

// wording says in plain words what is wrong with the value at n.
func (c *schemaChecker) wording(k jsonschema.ErrorKind, n *node) string {
	switch k := k.(type) {
	case *kind.Type:
		return "must be " + strings.Join(k.Want, " or ") + ", is " + k.Got
	case *kind.Pattern:
		if n.kind == text && n.value == "" {
			return "is empty; must match " + k.Want
		}
		return "must match " + k.Want
	case *kind.MinLength:
		if k.Got == 0 {
			return "is empty"
		}
		return "is " + strconv.Itoa(k.Got) + " characters long; at least " + strconv.Itoa(k.Want) + " are needed"
	case *kind.MaxLength:
		return "is " + strconv.Itoa(k.Got) + " characters long; at most " + strconv.Itoa(k.Want) + " are allowed"
	case *kind.MinItems:
		if k.Got == 0 {
			return "is empty; at least " + strconv.Itoa(k.Want) + " is needed"
		}
	case *kind.UniqueItems:
		return "items " + strconv.Itoa(k.Duplicates[0]) + " and " + strconv.Itoa(k.Duplicates[1]) + " are equal"
	case *kind.MinProperties:
		return "is empty"
	case *kind.MaxProperties:
		return "only one of its keys may be given"
	}
	return k.LocalizedString(c.printer)
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

// allowed looks up the names of the properties in the schema at url.
func (c *schemaChecker) allowed(url string) []string {
	_, fragment, _ := strings.Cut(url, "#")
	at := c.raw
	for token := range strings.SplitSeq(strings.TrimPrefix(fragment, "/"), "/") {
		if token == "" {
			continue
		}
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
	properties, _ := schema["properties"].(map[string]any)
	var names []string
	for name := range properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func quoted(names []string) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = strconv.Quote(name)
	}
	return strings.Join(list, ", ")
}
