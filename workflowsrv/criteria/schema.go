package criteria

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A schema is a compiled JSON Schema.
type schema struct {
	compiled *jsonschema.Schema
}

func compileSchema(v any) (*schema, error) {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft7)
	c.UseLoader(noLoader{})
	const url = "criteria:schema"
	if err := c.AddResource(url, clone(v)); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(url)
	if err != nil {
		return nil, err
	}
	return &schema{compiled}, nil
}

// noLoader keeps a schema from reaching for files and the network.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, errors.New("a schema may only refer to itself")
}

func (j *judge) schema(r *rule, n *Node) {
	n.Outcome, n.Expected = Passed, "JSON that satisfies the schema"
	v, err := decodeOutput(j.output)
	if err != nil {
		n.Outcome, n.Got, n.Message = Failed, "no JSON", issueNotJSON
		return
	}
	if err := r.schema.compiled.Validate(v); err != nil {
		n.Outcome, n.Got = Failed, fmt.Sprint(err)
	}
}

func decodeOutput(output string) (any, error) {
	d := json.NewDecoder(strings.NewReader(output))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}
