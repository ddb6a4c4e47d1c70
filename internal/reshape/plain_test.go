package reshape_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcp-workbench/workbench/internal/reshape"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Parameters whose names models' interfaces refuse have others, everywhere in what holds for the arguments, and calls
// by either name give the server its own.
func TestPlain(t *testing.T) {
	const raw = `{"name":"list","inputSchema":{"type":"object","properties":{"limit":{"type":"integer"},` +
		`"filter[id]":{"type":"string","description":"An id"},"filter_id":{"type":"string"},"at<":{},"at>":{},"at":{},"口座":{"type":"object","properties":{"a b":{}}},` +
		`"$top":{"type":"integer"}},"required":["limit","filter[id]"],"dependentRequired":{"at<":["at>"]},` +
		`"anyOf":[{"required":["$top"]},{"properties":{"at<":{"minimum":1},"né":{}},"required":["né"]}],"x":["at<"]}}`
	const want = `{"name":"list","inputSchema":{"type":"object","dependentRequired":{"at_lt":["at_gt"]},"x":["at<"],"description":"Give $top, or né.","properties":{"limit":{"type":"integer"},` +
		`"filter_id_2":{"type":"string","description":"An id (the server's name for it: filter[id])"},"filter_id":{"type":"string"},` +
		`"at_lt":{"description":"(the server's name for it: at<)"},"at_gt":{"description":"(the server's name for it: at>)"},"at":{},` +
		`"argument":{"description":"(the server's name for it: 口座)","type":"object","properties":{"a b":{}}},` +
		`"top":{"description":"(the server's name for it: $top)","type":"integer"},"n":{"description":"(the server's name for it: né)"}},"required":["limit","filter_id_2"]}}`
	form := reshape.Plain([]byte(raw), nil)
	got, a := form.Raw, form.Arguments
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for given, want := range map[string]string{
		`{"limit":1}`:                      `{"limit":1}`,
		`{"filter_id_2":"x","argument":2}`: `{"filter[id]":"x","口座":2}`,
		`{"filter[id]":"x"}`:               `{"filter[id]":"x"}`,
		`{"filter_id_2":"y","filter[id]":"x","filter_id":"z"}`: `{"filter[id]":"x","filter_id":"z"}`,
		`{"at_lt":1,"at_lt":2}`:                                `{"at<":1,"at<":2}`,
	} {
		if out, err := a.Merge([]byte(given)); err != nil || string(out) != want {
			t.Errorf("%s: got %s, %v, want %s", given, out, err, want)
		}
	}
	var shown struct{ InputSchema json.RawMessage }
	if err := json.Unmarshal(got, &shown); err != nil {
		t.Fatal(err)
	}
	for given, want := range map[string]string{
		`{"at<":1,"limit":2,"$top":3,"x[]":4}`: `{"at_lt":1,"limit":2,"top":3,"x[]":4}`,
		`{"at_lt":1}`:                          `{"at_lt":1}`,
		`{}`:                                   `{}`,
	} {
		if got := reshape.Shown(shown.InputSchema, []byte(given)); string(got) != want {
			t.Errorf("%s: got %s, want %s", given, got, want)
		}
	}
	for _, raw := range []string{want, `{"name":"a","inputSchema":{"type":"object"}}`, `{"name":"a"}`, `{"name":"a","inputSchema":true}`,
		`{"name":"a","inputSchema":{"properties":{"_id":{},"a.b-c":{}}}}`} {
		if got := reshape.Plain([]byte(raw), nil); string(got.Raw) != raw || got.Arguments != nil {
			t.Errorf("got %+v for %s, want no change", got, raw)
		}
	}
}

// Schemas of older drafts, and what no draft has, become schemas of JSON Schema 2020-12 that say what arrays hold.
func TestLatest(t *testing.T) {
	for _, tt := range []struct{ is, want string }{
		{`{"type":"array"}`, `{"type":"array","items":{}}`},
		{`{"type":["array","null"],"prefixItems":[{"type":"array"}]}`, `{"type":["array","null"],"prefixItems":[{"type":"array","items":{}}],"items":{}}`},
		{`{"minimum":0,"exclusiveMinimum":true,"maximum":9,"exclusiveMaximum":false}`, `{"maximum":9,"exclusiveMinimum":0}`},
		{`{"exclusiveMinimum":true}`, `{}`},
		{`{"exclusiveMinimum":3,"minLength":2.0}`, `{"exclusiveMinimum":3,"minLength":2.0}`},
		{`{"type":"array","items":[{"type":"string"},{"type":"number","required":true}]}`, `{"type":"array","prefixItems":[{"type":"string"},{"type":"number"}],"items":{}}`},
		{`{"items":[{"type":"string"}],"additionalItems":false}`, `{"maxItems":1,"prefixItems":[{"type":"string"}],"items":{}}`},
		{`{"items":[true],"additionalItems":{"type":"any"},"maxItems":"7"}`, `{"prefixItems":[true],"items":{}}`},
		{`{"items":[]}`, `{}`},
		{`{"required":[],"dependentRequired":{"a":[],"b":[1],"c":1}}`, `{"required":[],"dependentRequired":{"a":[],"b":[]}}`},
		{`{"type":"any","enum":"a","default":[],"x":[],"required":[],"properties":{"type":{"type":["int","string"]},"a":7,"b":true},"anyOf":[{"allOf":{}},1]}`,
			`{"default":[],"x":[],"required":[],"properties":{"type":{"type":["string"]},"a":{},"b":true},"anyOf":[{}]}`},
		{`{"$defs":{"items":{"type":"array"}},"not":{"pattern":1,"title":"t","minItems":-1,"maxItems":1.5,"uniqueItems":"yes","multipleOf":null}}`,
			`{"$defs":{"items":{"type":"array","items":{}}},"not":{"title":"t"}}`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"items":[{}]}}}`, `{"properties":{"a":{"prefixItems":[{}],"items":{}}}}`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"type":"array"}}}`, `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"type":"array","items":{}}}}`},
		{`{"$schema":"https://json-schema.org/draft/2020-12/schema","minimum":0,"exclusiveMinimum":true}`, `{"$schema":"https://json-schema.org/draft/2020-12/schema","exclusiveMinimum":0}`},
		{`{"items":[{"type":"object"}],"additionalItems":{"$ref":"#/properties/p/items/0"}}`,
			`{"prefixItems":[{"type":"object"}],"items":{"$ref":"#/properties/p/prefixItems/0"}}`},
		{`{"anyOf":[{"$ref":"#/properties/p/anyOf/1"},{"$ref":"#/$defs/gone"},{"$ref":"#"},{"$ref":"http://x/y"},{"$ref":"#name"},{"$ref":"#/properties/p/anyOf/9"}],"default":{"$ref":"#/gone"}}`,
			`{"anyOf":[{"$ref":"#/properties/p/anyOf/1"},{},{"$ref":"#"},{"$ref":"http://x/y"},{"$ref":"#name"},{}],"default":{"$ref":"#/gone"}}`},
	} {
		// Where properties are, nothing but the schema is judged.
		raw := func(schema string) string {
			return `{"name":"t","inputSchema":{"type":"object","properties":{"p":` + schema + `}}}`
		}
		in, want := raw(tt.is), raw(tt.want)
		if strings.Contains(tt.is, "$schema") {
			in, want = `{"inputSchema":`+tt.is+`}`, `{"inputSchema":`+tt.want+`}`
		}
		got := reshape.Plain([]byte(in), nil).Raw
		if string(got) != want {
			t.Errorf("%s\ngot  %s\nwant %s", in, got, want)
		}
		if again := reshape.Plain(got, nil).Raw; string(again) != string(got) {
			t.Errorf("%s becomes %s, and that %s", in, got, again)
		}
	}
}

// A reference to a parameter leads to it by the name that it has.
func TestPlainReferences(t *testing.T) {
	got := reshape.Plain([]byte(`{"name":"t","inputSchema":{"type":"object","properties":{"a[]":{"type":"array","items":{"type":"string"}},"a/b":{},`+
		`"c":{"$ref":"#/properties/a[]/items"},"d":{"$ref":"#/properties/a~1b"},"e":{"$ref":"#/properties/a%5B%5D"},"f":{"properties":{"a[]":{"$ref":"#/properties/f/properties/a[]"}}}}}}`), nil).Raw
	for _, want := range []string{`"c":{"$ref":"#/properties/a/items"}`, `"d":{"$ref":"#/properties/a_b"}`, `"e":{"$ref":"#/properties/a"}`,
		`{"a[]":{"$ref":"#/properties/f/properties/a[]"}}`} {
		if !strings.Contains(string(got), want) {
			t.Errorf("got %s, want %s in it", got, want)
		}
	}
}

// What a rule hides stays hidden, and what it gives is given once, whatever the parameter is called.
func TestPlainByARule(t *testing.T) {
	r := reshape.Rule{Defaults: []reshape.Argument{{Name: "filter[id]", Value: json.RawMessage(`"mine"`)}}, Hidden: []string{"$token"}}
	shown, a, unknown := r.Definition([]byte(`{"name":"list","inputSchema":{"type":"object","properties":{"filter[id]":{},"$token":{}}}}`))
	form := reshape.Plain(shown, a)
	shown, a = form.Raw, form.Arguments
	if strings.Contains(string(shown), "token") || !strings.Contains(string(shown), `"filter_id":{`) || unknown != nil {
		t.Errorf("got %s, unknown %q", shown, unknown)
	}
	for given, want := range map[string]string{
		`{}`:                          `{"filter[id]":"mine"}`,
		`{"filter_id":1,"$token":2}`:  `{"filter[id]":1}`,
		`{"filter[id]":1,"$TOKEN":2}`: `{"filter[id]":1}`,
		`{"token":2}`:                 `{"token":2,"filter[id]":"mine"}`,
	} {
		if out, err := a.Merge([]byte(given)); err != nil || string(out) != want {
			t.Errorf("%s: got %s, %v, want %s", given, out, err, want)
		}
	}
}

// Whatever the parameters are called, they are told apart and have names that are taken, and a call by these reaches the
// server by its own.
func FuzzPlain(f *testing.F) {
	f.Add("a[b]", "a_b", "a<b")
	f.Add("", " ", strings.Repeat("é", 80))
	f.Add(strings.Repeat("x", 65), strings.Repeat("x", 66), strings.Repeat("x", 60))
	taken := regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)
	f.Fuzz(func(t *testing.T, one, two, three string) {
		properties := map[string]any{one: map[string]any{}, two: map[string]any{"type": "string"}, three: map[string]any{}}
		raw, err := json.Marshal(map[string]any{"name": "t", "inputSchema": map[string]any{"type": "object", "properties": properties}})
		if err != nil {
			t.Skip()
		}
		var before, after struct {
			InputSchema struct{ Properties map[string]json.RawMessage }
		}
		form := reshape.Plain(raw, nil)
		got, a := form.Raw, form.Arguments
		if json.Unmarshal(raw, &before) != nil || json.Unmarshal(got, &after) != nil {
			t.Fatalf("got %s for %s", got, raw)
		}
		if len(after.InputSchema.Properties) != len(before.InputSchema.Properties) {
			t.Fatalf("got %s for %s, want as many parameters", got, raw)
		}
		call := make(map[string]int)
		for name := range after.InputSchema.Properties {
			if !taken.MatchString(name) {
				t.Errorf("got the name %q", name)
			}
			call[name] = 1
		}
		given, _ := json.Marshal(call)
		merged, err := a.Merge(given)
		sent := make(map[string]int)
		if err != nil || json.Unmarshal(merged, &sent) != nil {
			t.Fatalf("got %s, %v", merged, err)
		}
		for name := range before.InputSchema.Properties {
			if sent[name] != 1 || len(sent) != len(before.InputSchema.Properties) {
				t.Errorf("the server gets %s of %s, want the parameters of %s", merged, given, raw)
			}
		}
	})
}

// Whatever is given for a schema, what comes back is one of JSON Schema 2020-12, and comes back as it is.
func FuzzLatest(f *testing.F) {
	f.Add(`{"type":["array","x"],"items":[{"minimum":1,"exclusiveMinimum":true},7],"additionalItems":{"required":true},"enum":{}}`)
	f.Add(`{"properties":{"items":{"items":[[]]}},"$defs":[],"allOf":[],"minLength":1e999,"maxLength":-0,"pattern":"a"}`)
	f.Add(`{"exclusiveMaximum":false,"maximum":"1","dependentRequired":{"a":1},"not":[],"if":null,"$schema":"x"}`)
	compiler := jsonschema.NewCompiler()
	meta, err := compiler.Compile("https://json-schema.org/draft/2020-12/schema")
	if err != nil {
		f.Fatal(err)
	}
	check := func(t *testing.T, given, got []byte) {
		t.Helper()
		tool, err := jsonschema.UnmarshalJSON(bytes.NewReader(got))
		if err != nil {
			t.Fatalf("got %s for %s: %v", got, given, err)
		}
		if again := reshape.Plain(got, nil).Raw; string(again) != string(got) {
			t.Errorf("%s becomes %s, and that %s", given, got, again)
		}
		if err := meta.Validate(tool.(map[string]any)["inputSchema"]); err != nil {
			t.Errorf("%s becomes %s: %v", given, got, err)
		}
	}
	f.Fuzz(func(t *testing.T, schema string) {
		for _, form := range []string{`{"type":"object","properties":{"p":%s}}`, `{"type":"object","anyOf":[%s]}`} {
			raw := fmt.Appendf(nil, `{"name":"t","inputSchema":`+form+`}`, schema)
			var m wire.Message
			if !json.Valid(raw) || wire.Scan([]byte(`{"jsonrpc":"2.0","method":"m","params":`+string(raw)+`}`), &m) != nil {
				t.Skip()
			}
			form := reshape.Plain(raw, nil)
			check(t, raw, form.Raw)
			one := wire.Splice(nil, form.Raw, form.ToLegacy...)
			check(t, raw, one)
			if reshape.Plain(one, nil).ToLegacy != nil {
				t.Errorf("%s becomes %s", raw, one)
			}
		}
	})
}

func BenchmarkPlain(b *testing.B) {
	raw := []byte(`{"name":"search_files","inputSchema":{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{` +
		`"path":{"type":"string","description":"Where to look"},"pattern":{"type":"string","minLength":1},"excludePatterns":{"type":"array","items":{"type":"string"},"default":[]},` +
		`"how":{"anyOf":[{"type":"object","properties":{"deep":{"type":"integer","minimum":0}},"required":["deep"]},{"enum":["a","b"]}]}},"required":["path","pattern"],"additionalProperties":false}}`)
	b.ReportAllocs()
	for b.Loop() {
		reshape.Plain(raw, nil)
	}
}
