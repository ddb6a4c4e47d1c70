package offered

import "testing"

func TestFaultG92_DefinitionMended(t *testing.T) {
	for _, tt := range []struct{ name, raw, want string }{
		{"as it should be", `{ "name":"a", "x-own":1, "inputSchema":{"type":"object","properties":{"p":{}},"required":["p"]} }`, ""},
		{"all that is optional", `{"name":"a","title":"t","description":"d","inputSchema":{"type":"object"},` +
			`"outputSchema":{"type":"object"},"annotations":{"title":"t","readOnlyHint":true,"own":1},"execution":{"taskSupport":"optional"},"icons":[{"src":"x"}],"_meta":{}}`, ""},
		{"no schema", `{"name":"a"}`, `{"name":"a","inputSchema":{"type":"object"}}`},
		{"schema null", `{"name":"a","inputSchema":null}`, `{"name":"a","inputSchema":{"type":"object"}}`},
		{"schema of a list", `{"inputSchema":{"type":"array"},"name":"a"}`, `{"inputSchema":{"type":"object"},"name":"a"}`},
		{"properties in a list", `{"name":"a","inputSchema":{"type":"object","properties":[1]}}`,
			`{"name":"a","inputSchema":{"type":"object"}}`},
		{"required is a number", `{"name":"a","inputSchema":{"type":"object","required":[5]}}`,
			`{"name":"a","inputSchema":{"type":"object"}}`},
		{"true and false", `{"name":"a","inputSchema":{"type":"object", "properties":{"p":true,"q":false,"r":{"type":"string"}}}}`,
			`{"name":"a","inputSchema":{"type":"object", "properties":{"p":{},"q":{"not":{}},"r":{"type":"string"}}}}`},
		{"null and others", `{"name":"a","title":null,"description":["d"],"inputSchema":{"type":"object"},` +
			`"outputSchema":null,"annotations":null,"execution":{"taskSupport":"yes"},"icons":[{}],"_meta":1}`, `{"name":"a","inputSchema":{"type":"object"}}`},
		{"a hint in words", `{"name":"a","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":"yes"}}`,
			`{"name":"a","inputSchema":{"type":"object"}}`},
	} {
		got, changed := mended([]byte(tt.raw))
		want := tt.want
		if want == "" {
			want = tt.raw
		}
		if string(got) != want || changed != (tt.want != "") {
			t.Errorf("%s: got %s, %v, want %s", tt.name, got, changed, want)
		}
	}
}
