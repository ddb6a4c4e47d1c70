package reshape_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcp-workbench/workbench/internal/reshape"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// A schema that is made of others becomes one that has the properties of each and takes whatever the first one takes.
func TestMerged(t *testing.T) {
	for _, tt := range []struct {
		name, schema, want string
		takes              []string // what the schema takes, and what it becomes as well
	}{
		{"nothing to do", `{"type":"object","properties":{"a":{"anyOf":[{},true]}},"required":["a"]}`, "", nil},
		{"one or the other", `{"type":"object","properties":{"name":{},"phone":{},"email":{}},"required":["name"],"anyOf":[{"required":["phone"]},{"required":["email","name"]}],"additionalProperties":false}`,
			`{"type":"object","additionalProperties":false,"description":"Give phone, or email.","properties":{"name":{},"phone":{},"email":{}},"required":["name"]}`,
			[]string{`{"name":1,"phone":2}`, `{"name":1,"email":2}`}},
		{"kinds", `{"description":"Does it.","oneOf":[{"type":"object","properties":{"do":{"const":"make"},"text":{"type":"string"}},"required":["do","text"]},` +
			`{"type":"object","properties":{"do":{"const":"drop"},"id":{"type":"integer"},"text":{"type":"string"}},"required":["do","id"]}],"type":"object"}`,
			`{"type":"object","description":"Does it. Give do \"make\" and text, or do \"drop\" and id.","properties":{"do":{"anyOf":[{"const":"make"},{"const":"drop"}]},"text":{"type":"string"},"id":{"type":"integer"}},"required":["do"]}`,
			[]string{`{"do":"make","text":"x"}`, `{"do":"drop","id":1,"text":"x"}`}},
		{"references", `{"$ref":"#/$defs/all","$defs":{"a/b":{"properties":{"a":{}},"required":["a"]},"all":{"allOf":[{"$ref":"#/$defs/a~1b"},{"properties":{"c":{"$ref":"#/$defs/a~1b"}}},{"$ref":"#/$defs/all"},{"$ref":"#/no"},{"$ref":"http://x"}]}},"type":"object"}`,
			`{"$defs":{"a/b":{"properties":{"a":{}},"required":["a"]},"all":{"allOf":[{"$ref":"#/$defs/a~1b"},{"properties":{"c":{"$ref":"#/$defs/a~1b"}}},{"$ref":"#/$defs/all"},{},{"$ref":"http://x"}]}},"type":"object","properties":{"a":{},"c":{"$ref":"#/$defs/a~1b"}},"required":["a"]}`, nil},
		{"a condition", `{"type":"object","properties":{"mode":{"enum":["s","l"]},"n":{"maximum":9}},"if":{"properties":{"mode":{"const":"s"}}},"then":{"properties":{"n":{"maximum":1},"why":{}}},"else":{"required":["n"]}}`,
			`{"type":"object","properties":{"mode":{"enum":["s","l"]},"n":{"maximum":9},"why":{}}}`, []string{`{"mode":"s","n":1,"why":0}`, `{"mode":"l","n":9}`}},
		{"what its own properties say", `{"type":"object","anyOf":[{"properties":{"k":{"const":1}},"required":["k"]},true,{"required":"k"}],"properties":{"k":{"enum":[1,2]}}}`,
			`{"type":"object","properties":{"k":{"enum":[1,2]}}}`, []string{`{"k":1}`, `{"k":2}`, `{}`}},
		{"names with escapes", `{"type":"object","allOf":[{"properties":{"a\u0062":{}},"required":["ab"]}]}`,
			`{"type":"object","properties":{"ab":{}},"required":["ab"]}`, []string{`{"ab":1}`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			definition := []byte(`{"name":"t","inputSchema":` + tt.schema + `,"outputSchema":{"anyOf":[]}}`)
			form := reshape.Plain(definition, nil)
			if (form.ToLegacy == nil) != (tt.want == "") {
				t.Fatalf("got the edits %v", form.ToLegacy)
			}
			if form.ToLegacy == nil {
				return
			}
			got := wire.Splice(nil, form.Raw, form.ToLegacy...)
			if want := `{"name":"t","inputSchema":` + tt.want + `,"outputSchema":{"anyOf":[]}}`; string(got) != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			for _, arguments := range tt.takes {
				for _, schema := range []string{tt.schema, tt.want} {
					if err := judge(t, schema, arguments); err != nil {
						t.Errorf("%s by %s: %v", arguments, schema, err)
					}
				}
			}
		})
	}
}

func judge(t *testing.T, schema, value string) error {
	t.Helper()
	c := jsonschema.NewCompiler()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(schema)))
	if err == nil {
		err = c.AddResource("mem:s", doc)
	}
	var of any
	if err != nil || json.Unmarshal([]byte(value), &of) != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("mem:s")
	if err != nil {
		if schema[0] == '{' && bytes.Contains([]byte(schema), []byte(`"required":"k"`)) {
			return nil // it cannot be judged by that
		}
		t.Fatal(err)
	}
	return s.Validate(of)
}

// However large a schema is, and however it refers to itself, it is done soon and becomes not much larger.
func TestHostileSchemas(t *testing.T) {
	many := func(n int, of string) string { return strings.TrimSuffix(strings.Repeat(of+",", n), ",") }
	var numbered, required, refs, odd, half strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&numbered, `"p[%d]":{"items":[{}]},`, i)
		fmt.Fprintf(&required, `"p[%d]",`, i)
		fmt.Fprintf(&odd, `"%c":{},`, 0x4e00+i)
		if i < 5000 {
			fmt.Fprintf(&half, `"p%d":{"a":1},`, i)
		}
		fmt.Fprintf(&refs, `"r%d":{"$ref":"#/properties/p[%d]/items/0"},`, i, i)
	}
	p, r := strings.TrimSuffix(numbered.String(), ","), strings.TrimSuffix(required.String(), ",")
	for name, schema := range map[string]string{
		"itself":     `{"allOf":[{"$ref":"#"},{"$ref":"#"}]}`,
		"each other": `{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"},{"$ref":"#/$defs/b"}]},"b":{"oneOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"},{"properties":{"x":{}}}]}}}`,
		"deep":       strings.Repeat(`{"type":"array","additionalItems":false,"items":[`, 150) + `{}` + strings.Repeat(`]}`, 150),
		"wide":       `{"properties":{` + p + `},"required":[` + r + `],"anyOf":[{"required":[` + r + `]},{"required":[` + r + `],"properties":{` + p + `}}]}`,
		"references": `{"properties":{` + refs.String() + p + `},"anyOf":[` + many(30_000, `{"$ref":"#/properties/r29999"}`) + `]}`,
		"one name":   `{"properties":{` + strings.TrimSuffix(odd.String(), ",") + `}}`,
		"large":      `{"anyOf":[` + many(1_000, `{"$ref":"#/$defs/a"}`) + `],"$defs":{"a":{"properties":{` + strings.TrimSuffix(half.String(), ",") + `}}}}`,
		"choices":    `{"anyOf":[` + many(50_000, `{"properties":{"a":{"const":1}},"required":["a","b"]}`) + `]}`,
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			given := []byte(`{"inputSchema":` + schema + `}`)
			form := reshape.Plain(given, nil)
			got := wire.Splice(nil, form.Raw, form.ToLegacy...)
			if !json.Valid(got) || len(got) > 8*len(given)+1000 {
				t.Errorf("got %d bytes for %d", len(got), len(given))
			}
			if took := time.Since(began); took > time.Minute { // it is a second, or hours
				t.Errorf("it took %v", took)
			} else {
				t.Log(took, len(given), len(got))
			}
		})
	}
}
