package criteria_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
)

func parseSchema(t testing.TB, schema string) *criteria.Criteria {
	t.Helper()
	return parse(t, `{"type":"schema","message":"","schema":`+schema+`}`)
}

const endpoint = `{"type":"object","additionalProperties":false,"required":["endpoint","method"],"properties":{
	"endpoint":{"type":"string","pattern":"^/api/"},"method":{"enum":["GET","POST"]},"authentication":{"type":"boolean"},
	"tags":{"type":"array","maxItems":2,"uniqueItems":true,"items":{"type":"string","minLength":2}},"limit":{"type":"integer","minimum":1,"maximum":10.5}}}`

func TestSchema(t *testing.T) {
	for _, tt := range []struct {
		name, schema, output string
		issue, suggestion    string // "" means valid; suggestions are separated by |
	}{
		{name: "valid", schema: endpoint, output: ` {"endpoint":"/api/x","method":"GET"} `},
		{name: "fenced", schema: endpoint, output: "```json\n{\"endpoint\":\"/api/x\",\"method\":\"GET\"}\n```\n"},
		{name: "fenced with more ticks", schema: endpoint, output: "````\n{\"endpoint\":\"/api/x\",\"method\":\"GET\"}\n````"},
		{name: "byte order mark", schema: endpoint, output: "\ufeff{\"endpoint\":\"/api/x\",\"method\":\"GET\"}"},
		{
			name: "missing property, a similar one is there", schema: endpoint, output: `{"endPoint":"/api/x","method":"GET"}`,
			issue:      `Validation Error at '': must not have the property "endPoint"; Validation Error at '': must have the property "endpoint"`,
			suggestion: `At the top level: take out the property "endPoint".|At the top level: add the property "endpoint"; is "endPoint" meant to be it?`,
		},
		{
			name: "pattern", schema: endpoint, output: `{"endpoint":"/v1","method":"GET"}`,
			issue: `Validation Error at '/endpoint': must match the pattern ^/api/`, suggestion: `At /endpoint: must match the pattern ^/api/, got "/v1".`,
		},
		{
			name: "enum, nearly", schema: endpoint, output: `{"endpoint":"/api/x","method":"get"}`,
			issue: `Validation Error at '/method': must be one of "GET", "POST"`, suggestion: `At /method: must be one of "GET", "POST", got "get". Is "GET" meant?`,
		},
		{
			name: "type", schema: endpoint, output: `{"endpoint":"/api/x","method":"GET","authentication":"yes"}`,
			issue: `Validation Error at '/authentication': must be boolean`, suggestion: `At /authentication: must be boolean, got "yes".`,
		},
		{
			name: "several places, in a stable order", schema: endpoint, output: `{"endpoint":"/api/x","method":"GET","limit":11,"tags":["x","x",3]}`,
			issue: `Validation Error at '/limit': must be at most 10.5; Validation Error at '/tags': must have at most 2 items; Validation Error at '/tags': must not have equal items; ` +
				`Validation Error at '/tags/0': must have at least 2 characters; Validation Error at '/tags/1': must have at least 2 characters; Validation Error at '/tags/2': must be string`,
			suggestion: `At /limit: must be at most 10.5, got 11.|At /tags: must have at most 2 items, got 3 items.|At /tags: must not have equal items, got equal items at 0 and 1.|` +
				`At /tags/0: must have at least 2 characters, got 1 character.|At /tags/1: must have at least 2 characters, got 1 character.|At /tags/2: must be string, got 3.`,
		},
		{
			name: "not JSON", schema: endpoint, output: `{"endpoint":}`,
			issue:      "Output is not valid JSON for schema validation",
			suggestion: `Send one JSON value: invalid character '}' looking for beginning of value at line 1, column 13.`,
		},
		{
			name: "JSON among text", schema: endpoint, output: "Here it is:\n{\"endpoint\":\"/api/x\",\"method\":\"GET\"}",
			issue:      "Output is not valid JSON for schema validation",
			suggestion: `Send the JSON alone, without the text around it; a JSON value seems to start at line 2, column 1.`,
		},
		{
			name: "a fence among text", schema: endpoint, output: "Here:\n```json\n{\"endpoint\":\"/api/x\"}\n```\nDone.",
			issue:      "Output is not valid JSON for schema validation",
			suggestion: `Send the JSON alone, without the text around it; a JSON value seems to start at line 3, column 1.`,
		},
		{
			name: "two values", schema: `{}`, output: "{} {}", issue: "Output is not valid JSON for schema validation",
			suggestion: "Send one JSON value: more text follows the JSON value at line 1, column 5.",
		},
		{
			name: "nothing", schema: `{}`, output: " ", issue: "Output is not valid JSON for schema validation", suggestion: "Send one JSON value: it is empty.",
		},
		{
			name: "cut off", schema: `{}`, output: `{"a":[1,`, issue: "Output is not valid JSON for schema validation",
			suggestion: "Send one JSON value: it ends before the JSON value does.",
		},
		{
			name: "too deep", schema: `{}`, output: strings.Repeat("[", 300) + strings.Repeat("]", 300),
			issue: "Output must satisfy the JSON Schema (it nests deeper than 200)", suggestion: "Send JSON that can be judged: it nests deeper than 200.",
		},
		{
			name: "a number beyond all computing", schema: `{"type":"integer"}`, output: `[1e1000000000]`,
			issue: "Output must satisfy the JSON Schema (the number at /0 is too large or too long)", suggestion: "Send JSON that can be judged: the number at /0 is too large or too long.",
		},
		{
			name: "anyOf names what is nearest", schema: `{"properties":{"a":{"anyOf":[{"type":"null"},{"type":"object","required":["id"],"properties":{"id":{"type":"integer"}}}]}}}`,
			output: `{"a":{"id":"7"}}`, issue: `Validation Error at '/a': must match at least one alternative`,
			suggestion: `At /a: must match at least one alternative; nearest is alternative 2: At /a/id: must be integer, got "7".`,
		},
		{
			name: "oneOf, two match", schema: `{"oneOf":[{"type":"number"},{"const":"x"},{"minimum":3}]}`, output: `5`,
			issue:      `Validation Error at '': must match exactly one alternative, matches number 1 and number 3`,
			suggestion: `At the top level: must match exactly one alternative, matches number 1 and number 3, got 5.`,
		},
		{name: "not", schema: `{"not":{"type":"string"}}`, output: `"x"`, issue: `Validation Error at '': must not match the schema under "not"`, suggestion: `At the top level: must not match the schema under "not", got "x".`},
		{name: "const", schema: `{"const":"x"}`, output: `"y"`, issue: `Validation Error at '': must be "x"`, suggestion: `At the top level: must be "x", got "y".`},
		{name: "false", schema: `{"properties":{"a":false}}`, output: `{"a":{}}`, issue: `Validation Error at '/a': must not be there`, suggestion: `At /a: must not be there, got an empty object.`},
		{name: "bounds", schema: `{"minProperties":2,"exclusiveMinimum":3}`, output: `{"a":1}`, issue: `Validation Error at '': must have at least 2 properties`, suggestion: `At the top level: must have at least 2 properties, got 1 property.`},
		{name: "multiple", schema: `{"multipleOf":3}`, output: `4`, issue: `Validation Error at '': must be a multiple of 3`, suggestion: `At the top level: must be a multiple of 3, got 4.`},
		{name: "contains", schema: `{"contains":{"const":1}}`, output: `[2]`, issue: `Validation Error at '': must satisfy the schema: no items match contains schema`, suggestion: `At the top level: must satisfy the schema: no items match contains schema, got an array of 1.`},
		{name: "a reference within", schema: `{"$ref":"#/definitions/n","definitions":{"n":{"type":"number"}}}`, output: `"1"`, issue: `Validation Error at '': must be number`, suggestion: `At the top level: must be number, got "1".`},
		{name: "draft-07 tuple", schema: `{"items":[{"type":"number"}]}`, output: `["1"]`, issue: `Validation Error at '/0': must be number`, suggestion: `At /0: must be number, got "1".`},
		{name: "2020-12 tuple", schema: `{"$schema":"https://json-schema.org/draft/2020-12/schema","prefixItems":[{"type":"number"}]}`, output: `["1"]`, issue: `Validation Error at '/0': must be number`, suggestion: `At /0: must be number, got "1".`},
		{name: "2020-12 unevaluated", schema: `{"$schema":"https://json-schema.org/draft/2020-12/schema","allOf":[{"properties":{"a":true}}],"unevaluatedProperties":false}`, output: `{"b":1}`, issue: `Validation Error at '/b': must not be there`, suggestion: `At /b: must not be there, got 1.`},
		{name: "format is an annotation in draft-07", schema: `{"format":"email"}`, output: `"x"`},
		{name: "even regex", schema: `{"format":"regex"}`, output: `"("`},
		{name: "format is an annotation in 2020-12", schema: `{"$schema":"https://json-schema.org/draft/2020-12/schema","format":"email"}`, output: `"x"`},
		{name: "a custom member", schema: `{"x-owner":"us","type":"number"}`, output: `1`},
		{name: "the draft itself", schema: `{"$ref":"http://json-schema.org/draft-07/schema#"}`, output: `{"type":"strin"}`, issue: `Validation Error at '/type': must match at least one alternative`,
			suggestion: `At /type: must match at least one alternative; nearest is alternative 1: At /type: must be one of "array", "boolean", "integer", "null", "number", "object", "string", got "strin". Is "string" meant?`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := parseSchema(t, tt.schema).Check(t.Context(), tt.output, nil, criteria.Options{})
			var issues, suggestions []string
			if tt.issue != "" {
				issues, suggestions = []string{tt.issue}, append([]string{adviceAny}, strings.Split(tt.suggestion, "|")...)
			}
			if got.Valid() != (tt.issue == "") || !slices.Equal(got.Issues(), issues) {
				t.Errorf("got valid %v, issues %q, want %q", got.Valid(), got.Issues(), issues)
			}
			if !slices.Equal(got.Suggestions, suggestions) {
				t.Errorf("suggestions: got\n%q, want\n%q", got.Suggestions, suggestions)
			}
		})
	}
}

func TestSchemaMessage(t *testing.T) {
	c := parse(t, `{"type":"schema","message":"Send an endpoint","schema":`+endpoint+`}`)
	for _, output := range []string{"no JSON", `{}`} {
		got := c.Check(t.Context(), output, nil, criteria.Options{})
		if !slices.Equal(got.Issues(), []string{"Send an endpoint"}) {
			t.Errorf("%s: got %q", output, got.Issues())
		}
	}
	got := c.Check(t.Context(), `{"method":5}`, nil, criteria.Options{}).Explain.Children
	if len(got) != 2 || got[0].Kind != "required" || got[0].Where != "the top level" || got[1].Kind != "enum" || got[1].Where != "/method" || got[1].Got != "5" {
		t.Errorf("explained as %+v %+v", got[0], got[1])
	}
}

func TestSchemaDoubleEncoded(t *testing.T) {
	c := parseSchema(t, `{"type":"object","required":["a"]}`)
	for output, want := range map[string]bool{
		`"{\"a\":1}"`:                       true,
		`"{\"b\":1}"`:                       false,
		"\"```json\\n{\\\"a\\\":1}\\n```\"": true,
		`"just text"`:                       false,
	} {
		got := c.Check(t.Context(), output, nil, criteria.Options{})
		warned := len(got.Warnings) == 1 && strings.Contains(got.Warnings[0], "Return the JSON itself")
		if got.Valid() != want || warned != strings.Contains(output, "{") {
			t.Errorf("%s: got %+v, want valid %v", output, got, want)
		}
	}
	// A string that is what the schema wants stays a string.
	got := parseSchema(t, `{"type":"string"}`).Check(t.Context(), `"{}"`, nil, criteria.Options{})
	if !got.Valid() || got.Warnings != nil {
		t.Errorf("a string: got %+v", got)
	}
}

func TestSchemaErrors(t *testing.T) {
	many := `{"enum":[` + strings.Repeat("1,", 10_000) + `1]}`
	for _, tt := range []struct{ name, schema, reason string }{
		{"a wrong type", `{"properties":{"a":{"type":"strin"}}}`, `/properties/a/type: must be one of "array", "boolean", "integer", "null", "number", "object", "string"`},
		{"no object", `[]`, "the top level: must be boolean or object"},
		{"a pattern that does not compile", `{"pattern":"("}`, "regex"},
		{"a misspelt keyword", `{"propertys":{}}`, `"propertys" is not a keyword of JSON Schema; is "properties" meant?`},
		{"a keyword of a later draft", `{"prefixItems":[]}`, "is not a keyword of draft-07"},
		{"a keyword that is ignored", `{"$ref":"#/definitions/a","minLength":3,"definitions":{"a":{}}}`, `"minLength" has no effect beside "$ref"`},
		{"a reference that leads nowhere", `{"$ref":"#/definitions/a"}`, "definitions/a"},
		{"a reference to the network", `{"$ref":"https://example.com/schema.json"}`, "a schema may refer only to itself"},
		{"a reference to a file", `{"$ref":"file:///etc/hostname"}`, "a schema may refer only to itself"},
		{"a relative reference", `{"$ref":"other.json"}`, "a schema may refer only to itself"},
		{"an unknown draft", `{"$schema":"https://example.com/draft"}`, "a schema may refer only to itself"},
		{"too many values", many, "more than 10000 values"},
		{"too deep", strings.Repeat(`{"not":`, 300) + `{}` + strings.Repeat(`}`, 300), "deeper than 200"},
		{"a number beyond all computing", `{"minimum":1e1000000000}`, "/minimum is too large"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := criteria.Parse(decode(t, `[{"type":"schema","message":"m","schema":`+tt.schema+`}]`))
			var schema *criteria.SchemaError
			if !errors.As(err, &schema) {
				t.Fatalf("got %v, want a SchemaError", err)
			}
			if schema.Path != "/0/schema" || !strings.Contains(schema.Error(), tt.reason) {
				t.Errorf("got %q, want …%s…", schema.Error(), tt.reason)
			}
		})
	}
}

// A schema whose cost grows with the power of the depth is stopped, and judged by nothing.
func TestSchemaTimeOut(t *testing.T) {
	for name, schema := range map[string]string{
		"by alternatives":    `{"$ref":"#/definitions/x","definitions":{"x":{"anyOf":[{"items":{"$ref":"#/definitions/x"}},{"items":{"$ref":"#/definitions/x"}}],"maxItems":1,"not":{"const":[7]}}}}`,
		"without any report": `{"not":{"$ref":"#/definitions/x"},"definitions":{"x":{"type":"array","items":{"$ref":"#/definitions/x"},"contains":{"$ref":"#/definitions/x"}}}}`,
		"by patterns":        `{"items":{"pattern":"^(a+)+$"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			output := strings.Repeat("[", 60) + "7" + strings.Repeat("]", 60)
			if name == "by patterns" {
				output = `["` + strings.Repeat("a", 40) + `b"` + strings.Repeat(`,"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"`, 1000) + `]`
			}
			got := parseSchema(t, schema).Check(t.Context(), output, nil, criteria.Options{})
			if got.Valid() || got.Explain.Outcome != criteria.Undecided || len(got.Issues()) != 1 {
				t.Errorf("got %+v, want undecided", got)
			}
		})
	}
}

// Runs of one schema do not see each other.
func TestSchemaConcurrent(t *testing.T) {
	c := parseSchema(t, `{"type":"object","properties":{"a":{"format":"email","pattern":"x"}}}`)
	t.Run("group", func(t *testing.T) {
		for i := range 8 {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				for range 100 {
					got := c.Check(t.Context(), []string{`{"a":"y"}`, `{"a":"x"}`}[i%2], nil, criteria.Options{})
					if got.Valid() != (i%2 == 1) {
						t.Errorf("run %d: got %+v", i, got)
						return
					}
				}
			})
		}
	})
}
