package offered

import (
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/wire"
)

func TestFaultG92_DefinitionMended(t *testing.T) {
	for _, tt := range []struct{ name, raw, want string }{
		{"as it should be", `{ "name":"a", "x-own":1, "inputSchema":{"type":"object","properties":{"p":{}},"required":["p"]} }`, ""},
		{"all that is optional", `{"name":"a","title":"t","description":"d","inputSchema":{"type":"object"},` +
			`"outputSchema":{"type":"object"},"annotations":{"title":"t","readOnlyHint":true,"own":1},"execution":{"taskSupport":"optional"},"icons":[{"src":"x"}],"_meta":{}}`, ""},
		{"two schemas", `{"name":"a","inputSchema":{"type":"object"},"inputSchema":{"type":"object","properties":{"p":{}}}}`, ""},
		{"no schema", `{"name":"a"}`, `{"name":"a","inputSchema":{"type":"object"}}`},
		{"schema null", `{"name":"a","inputSchema":null}`, `{"name":"a","inputSchema":{"type":"object"}}`},
		{"schema of a list", `{"inputSchema":{"type":"array"},"name":"a"}`, `{"inputSchema":{"type":"object"},"name":"a"}`},
		{"properties in a list", `{"name":"a","inputSchema":{"type":"object","properties":[1]}}`,
			`{"name":"a","inputSchema":{"type":"object"}}`},
		{"required is a number", `{"name":"a","inputSchema":{"type":"object","required":[5]}}`,
			`{"name":"a","inputSchema":{"type":"object"}}`},
		{"true and false", `{"name":"a","inputSchema":{"type":"object", "properties":{"p":true,"q":false,"r":{"type":"string"}}}}`,
			`{"name":"a","inputSchema":{"type":"object","properties":{"p":{},"q":{"not":{}},"r":{"type":"string"}}}}`},
		{"true and false, as long as before", `{"inputSchema":{"type":"object","properties":{"a":true,"b":true,"c":true,"d":true,"e":true,"f":false,"g":false}}}`,
			`{"inputSchema":{"type":"object","properties":{"a":{},"b":{},"c":{},"d":{},"e":{},"f":{"not":{}},"g":{"not":{}}}}}`},
		{"no type", `{"inputSchema":{"properties":{"p":{}},"required":["p"]}}`, `{"inputSchema":{"type":"object","properties":{"p":{}},"required":["p"]}}`},
		{"empty", `{"inputSchema":{ }}`, `{"inputSchema":{"type":"object"}}`},
		{"a reference", `{"inputSchema":{"$ref":"#/definitions/A","definitions":{"A":{"type":"object"}}}}`,
			`{"inputSchema":{"type":"object","$ref":"#/definitions/A","definitions":{"A":{"type":"object"}}}}`},
		{"alternatives", `{"inputSchema":{"oneOf":[{"type":"object"},{}]}}`, `{"inputSchema":{"type":"object","oneOf":[{"type":"object"},{}]}}`},
		{"a list of types", `{"inputSchema":{"properties":{"p":{}},"type":["object","null"]}}`, `{"inputSchema":{"properties":{"p":{}},"type":"object"}}`},
		{"required null", `{"inputSchema":{"type":"object","required":null,"x":1}}`, `{"inputSchema":{"type":"object","x":1}}`},
		{"required, in part", `{"inputSchema":{"type":"object","required":["a",1,"b"]}}`, `{"inputSchema":{"type":"object","required":["a","b"]}}`},
		{"a property that is none", `{"inputSchema":{"type":"object","properties":{"p":null,"q":{"type":"string"}}}}`,
			`{"inputSchema":{"type":"object","properties":{"p":{},"q":{"type":"string"}}}}`},
		{"an output schema of anything, a list", `{"inputSchema":{"type":"object"},"outputSchema":{"type":"array","items":true}}`, ""},
		{"an output schema of anything, one of several", `{"outputSchema":{"oneOf":[{"type":"string"},{"type":"null"}]},"inputSchema":{"type":"object"}}`, ""},
		{"an output schema that is none", `{"inputSchema":{"type":"object"},"outputSchema":[]}`, `{"inputSchema":{"type":"object"}}`},
		{"an output schema without a type", `{"inputSchema":{"type":"object"},"outputSchema":{"properties":{"p":{}}}}`,
			`{"inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"p":{}}}}`},
		{"one bad hint", `{"inputSchema":{"type":"object"},"annotations":{"title":"t","readOnlyHint":true,"destructiveHint":null}}`,
			`{"inputSchema":{"type":"object"},"annotations":{"title":"t","readOnlyHint":true}}`},
		{"null and others", `{"name":"a","title":null,"description":["d"],"inputSchema":{"type":"object"},` +
			`"outputSchema":null,"annotations":null,"execution":{"taskSupport":"yes"},"icons":[{}],"_meta":1}`, `{"name":"a","inputSchema":{"type":"object"}}`},
		{"a hint in words", `{"name":"a","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":"yes"}}`,
			`{"name":"a","inputSchema":{"type":"object"}}`},
	} {
		raw := []byte(tt.raw)
		got, want := mended(raw, Tools), tt.want
		if want == "" {
			want = tt.raw
		}
		if string(got) != want || wire.IsSame(got, raw, wire.Whole(raw)) != (tt.want == "") {
			t.Errorf("%s: got %s, want %s", tt.name, got, want)
		}
		it, _ := newItem([]byte(strings.Replace(tt.raw, "{", `{"name":"a",`, 1)), Tools)
		if it.AnyOutput != strings.HasPrefix(tt.name, "an output schema of any") {
			t.Errorf("%s: got AnyOutput %v", tt.name, it.AnyOutput)
		}
	}
}

func TestEntriesMended(t *testing.T) {
	for _, tt := range []struct {
		kind            Kind
		name, raw, want string
	}{
		{Prompts, "all that is optional", `{"name":"a", "title":"t","description":"d","arguments":[ {"name":"x","title":"t","description":"d","required":true,"own":1} ],` +
			`"icons":[{"src":"x","mimeType":"image/png","sizes":["48x48"],"theme":"dark","own":1}],"_meta":{},"own":[1]}`, ""},
		{Prompts, "nothing else", `{"name":"a"}`, ""},
		{Prompts, "arguments that are none", `{"name":"a","arguments":{"x":{}}}`, `{"name":"a"}`},
		{Prompts, "bad arguments", `{"name":"a","arguments":[{"name":"x","required":"yes","description":null},{"description":"d"},"y",{"name":"z"}]}`,
			`{"name":"a","arguments":[{"name":"x"},{"name":"z"}]}`},
		{Prompts, "no arguments", `{"name":"a","arguments":[]}`, ""},
		{Prompts, "icons of a draft", `{"name":"a","icons":[{"src":"x","sizes":"48x48"},{"mimeType":"image/png"},{"src":"y","theme":"blue"}]}`,
			`{"name":"a","icons":[{"src":"x"},{"src":"y"}]}`},
		{Resources, "all that is optional", `{"uri":"x:y","name":"","title":"t","description":"d","mimeType":"text/plain","size":-1e3,` +
			`"annotations":{"audience":["user","assistant"],"priority":0.5,"lastModified":"2025-01-12T15:00:58+01:00","own":1},"_meta":{}}`, ""},
		{Resources, "no name", `{"uri":"x:y"}`, `{"uri":"x:y","name":"x:y"}`},
		{Resources, "a name that is none", `{"name":null,"uri":"x:y"}`, `{"uri":"x:y","name":"x:y"}`},
		{Resources, "a day and no time", `{"uri":"x:y","name":"n","annotations":{"lastModified":"2025-01-12","audience":["human"],"priority":5}}`, `{"uri":"x:y","name":"n"}`},
		{Resources, "one of two", `{"uri":"x:y","name":"n","annotations":{"audience":["human","user"]}}`, `{"uri":"x:y","name":"n","annotations":{"audience":["user"]}}`},
		{Resources, "a size in words", `{"uri":"x:y","name":"n","size":"12 kB","mimeType":null,"icons":{}}`, `{"uri":"x:y","name":"n"}`},
		{Templates, "no name", `{"uriTemplate":"x:{y}","title":1}`, `{"uriTemplate":"x:{y}","name":"x:{y}"}`},
		{Resources, "no uri", `{"title":"t"}`, ""},
		{Resources, "no object", `["uri"]`, "-"},
	} {
		raw := []byte(tt.raw)
		got, want := mended(raw, tt.kind), tt.want
		switch want {
		case "":
			want = tt.raw
		case "-":
			want = ""
		}
		if string(got) != want || wire.IsSame(got, raw, wire.Whole(raw)) != (tt.want == "") {
			t.Errorf("%s, %s: got %s, want %s", tt.kind, tt.name, got, want)
		}
	}
}
