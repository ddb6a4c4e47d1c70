package jsontype_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/mcp-workbench/workbench/internal/jsontype"
)

func TestOf(t *testing.T) {
	tests := []struct {
		name, schema string
		want         []string
	}{
		{"one type", `{"type":"integer"}`, []string{"integer"}},
		{"several types", `{"type":["string","null"]}`, []string{"string", "null"}},
		{"a reference", `{"$ref":"#/$defs/a~1b"}`, []string{"boolean"}},
		{"alternatives", `{"anyOf":[{"type":"array"},{"$ref":"#/$defs/a~1b"}]}`, []string{"array", "boolean"}},
		{"all of some", `{"allOf":[{"$ref":"#/$defs/a~1b"}],"default":true}`, []string{"boolean"}},
		{"values", `{"enum":["a",1,"b",2.5,null]}`, []string{"string", "integer", "number", "null"}},
		{"one value", `{"anyOf":[{"const":1},{"const":2}]}`, []string{"integer"}},
		{"values that do not say all", `{"type":"number","enum":[1]}`, []string{"number"}},
		{"many references to itself", `{"$ref":"#/$defs/loops"}`, nil},
		{"a reference to itself", `{"$ref":"#/$defs/loop"}`, nil},
		{"nothing said", `{"description":"x"}`, nil},
		{"no schema", `true`, nil},
	}
	root := map[string]any{"$defs": map[string]any{
		"a/b":   map[string]any{"type": "boolean"},
		"loop":  map[string]any{"$ref": "#/$defs/loop"},
		"loops": map[string]any{"anyOf": slices.Repeat([]any{map[string]any{"$ref": "#/$defs/loops"}}, 100)},
	}}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var schema any
			if err := json.Unmarshal([]byte(test.schema), &schema); err != nil {
				t.Fatal(err)
			}
			if got := jsontype.Of(root, schema); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestValue(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
		value      string // "" for an error
	}{
		{"text", "a b", []string{"string"}, `"a b"`},
		{"digits as text", "007", []string{"string"}, `"007"`},
		{"a large integer keeps its digits", "12345678901234567890", []string{"integer"}, "12345678901234567890"},
		{"an integer is a number", "5", []string{"number"}, "5"},
		{"a fraction is no integer", "5.5", []string{"integer"}, ""},
		{"text where a number may be", "five", []string{"number", "string"}, `"five"`},
		{"a number where text may be", "5", []string{"string", "integer"}, "5"},
		{"an object", `{"a": 1}`, []string{"object"}, `{"a": 1}`},
		{"nothing said", "true", nil, `"true"`},
		{"no truth value", "yes", []string{"boolean"}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := jsontype.Value(test.text, test.want)
			if string(got) != test.value || (err != nil) != (test.value == "") {
				t.Errorf("got %s, %v, want %q", got, err, test.value)
			}
		})
	}
}

// A number without a fraction is an integer, as JSON Schema has it, whoever wrote it and however.
func TestIntegers(t *testing.T) {
	for text, want := range map[string]int{"0": 0, "-0": 0, "7": 7, "7.0": 7, "7.000": 7, "7e0": 7, "70e-1": 7, "0.7E+1": 7, "7E2": 700,
		"-12.50e1": -125, "0.0e9999999999999999999": 0, "0e-5": 0, "9007199254740991": 1<<53 - 1, "-9007199254740991": 1 - 1<<53, "100e-2": 1} {
		if got := jsontype.Kind([]byte(text)); got != "integer" {
			t.Errorf("%s: got the kind %s, want integer", text, got)
		}
		if got, ok := jsontype.Int([]byte(text)); !ok || got != want {
			t.Errorf("%s: got %d, %v, want %d", text, got, ok, want)
		}
		if v, err := jsontype.Value(text, []string{"integer"}); err != nil || string(v) != text {
			t.Errorf("%s: got %s, %v, want it as it was written", text, v, err)
		}
	}
	for _, text := range []string{"7.5", "-0.1", "75e-1", "100e-3", "1e-9999999999999999999", "7.0000000000000000000001", "0.05e1"} {
		if got := jsontype.KindOf(json.Number(text)); got != "number" {
			t.Errorf("%s: got the kind %s, want number", text, got)
		}
		if got, ok := jsontype.Int([]byte(text)); ok {
			t.Errorf("%s: got %d, want no integer", text, got)
		}
	}
	for _, text := range []string{"1e400", "9007199254740993", "-9007199254740993", "9007199254740992", "12345678901234567890", "1e9999999999999999999"} {
		if got := jsontype.Kind([]byte(text)); got != "integer" {
			t.Errorf("%s: got the kind %s, want integer", text, got)
		}
		if got, ok := jsontype.Int([]byte(text)); ok {
			t.Errorf("%s: got %d, want none that is too large", text, got)
		}
	}
	for _, text := range []string{"", "null", `"7"`, "true", "[7]"} {
		if got, ok := jsontype.Int([]byte(text)); ok {
			t.Errorf("%q: got %d, want no integer", text, got)
		}
	}
}
