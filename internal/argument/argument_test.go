package argument_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/argument"
)

const schema = `{"type":"object","properties":{
	"n":{"type":"integer"},"f":{"type":"number"},"b":{"type":"boolean"},"s":{"type":"string"},"o":{"type":"object"},
	"l":{"type":"array","items":{"type":"integer"}},"words":{"type":"array","items":{"$ref":"#/$defs/word"}},
	"a.b":{"type":"integer"},"either":{"type":["array","string"]},
	"in":{"$ref":"#/$defs/in"},"level":{"enum":["low","high",3]},
	"size":{"enum":[1,2.5,null]},"five":{"const":5},"all":{"allOf":[{"$ref":"#/$defs/in/properties/deep/properties/n"}]},
	"maybe":{"anyOf":[{"$ref":"#/$defs/in"},{"type":"null"}]},"many":{"anyOf":[{"type":"array","items":{"type":"integer"}},{"type":"null"}]},
	"counts":{"type":"object","properties":{"of":{"type":"string"}},"additionalProperties":{"type":"integer"}}},
	"required":["s"],"additionalProperties":false,
	"$defs":{"word":{"type":"string"},"in":{"type":"object","properties":{"deep":{"type":"object","properties":{"n":{"type":"integer"}}},"x":{"type":"string"}},"required":["x"]}}}`

func TestParse(t *testing.T) {
	tests := []struct {
		name  string
		words []string
		want  string // or the error
	}{
		{"types of the schema", []string{"n=7", "f=1.50", "b=true", `o={"a":1}`, "s=7"}, `{"n":7,"f":1.50,"b":true,"o":{"a":1},"s":"7"}`},
		{"not in the schema", []string{"other=x=y", "empty="}, `{"other":"x=y","empty":""}`},
		{"members of objects", []string{"in.deep.n=7", "in.x=7", "free.y=1"}, `{"in":{"deep":{"n":7},"x":"7"},"free":{"y":"1"}}`},
		{"values of an enumeration", []string{"level=3", "size=2.5", "five=5"}, `{"level":3,"size":2.5,"five":5}`},
		{"one of several schemas", []string{"maybe.deep.n=7", "many=1,2", "all=7"}, `{"maybe":{"deep":{"n":7}},"many":[1,2],"all":7}`},
		{"none of what may be none", []string{"maybe=null", "many=null", "size=null"}, `{"maybe":null,"many":null,"size":null}`},
		{"other members", []string{"counts.of=7", "counts.a=7"}, `{"counts":{"of":"7","a":7}}`},
		{"a key with a dot", []string{"a.b=7"}, `{"a.b":7}`},
		{"lists", []string{"l=1,2", "words=1,a b"}, `{"l":[1,2],"words":["1","a b"]}`},
		{"a list as JSON", []string{"l=[1, 2]"}, `{"l":[1, 2]}`},
		{"an empty list", []string{"l="}, `{"l":[]}`},
		{"text where a list may be text", []string{"either=a,b"}, `{"either":"a,b"}`},
		{"JSON", []string{`n:={"any":[18446744073709551615]}`}, `{"n":{"any":[18446744073709551615]}}`},
		{"no JSON", []string{"n:=x"}, `argument n: must be JSON, as it is written with :=, got "x"`},
		{"another type", []string{"n=two"}, `argument n: must be integer, got "two"`},
		{"another type in a list", []string{"l=1,x"}, `argument l: must be integer, got "x"`},
		{"twice", []string{"n=1", "n=2"}, `argument n is given twice`},
		{"a value and a member", []string{"o={}", "o.a=1"}, `argument o.a is given twice`},
		{"a member and a value", []string{"o.a=1", "o={}"}, `argument o is given twice`},
		{"no key", []string{"=1"}, `argument "=1" is not KEY=VALUE`},
		{"a member without a name", []string{"a..b=1"}, `argument "a..b=1": no key has this form`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			out, err := argument.NewSchema([]byte(schema)).Parse(test.words)
			got := string(out)
			if err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// Bounds are part of what a schema allows, and an enumeration is one however long it is.
func TestCheckBounds(t *testing.T) {
	var long []string
	for i := range 30 {
		long = append(long, fmt.Sprintf("%q", fmt.Sprint("v", i)))
	}
	of := argument.NewSchema([]byte(`{"properties":{"n":{"type":"integer","minimum":1,"maximum":9},"x":{"exclusiveMinimum":0,"exclusiveMaximum":1.5},
		"s":{"type":"string","minLength":2,"maxLength":3},"l":{"type":"array","minItems":1,"maxItems":2,"items":{"enum":["a","b"]}},"e":{"enum":[` + strings.Join(long, ",") + `]}}}`))
	for given, want := range map[string]string{
		`{"n":1,"x":0.1,"s":"äöü","l":["a"],"e":"v29"}`: "",
		`{"n":0}`:             "n: must be at least 1, got 0",
		`{"n":10}`:            "n: must be at most 9, got 10",
		`{"x":0}`:             "x: must be more than 0, got 0",
		`{"x":1.5}`:           "x: must be less than 1.5, got 1.5",
		`{"s":"ä"}`:           "s: must be at least 2 characters, got 1",
		`{"s":"abcd"}`:        "s: must be at most 3 characters, got 4",
		`{"l":[]}`:            "l: must be at least 1 items, got 0",
		`{"l":["a","b","a"]}`: "l: must be at most 2 items, got 3",
		`{"l":["c"]}`:         "l[0]: must be one of a, b, got c",
		`{"e":"w"}`:           "e: must be one of v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15, v16, v17, v18, v19, …, got w",
	} {
		got := ""
		if err := of.Check([]byte(given)); err != nil {
			got = err.Error()
		}
		if hint := strings.Index(got, " (did you mean"); hint >= 0 {
			got = got[:hint]
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", given, got, want)
		}
	}
}

func TestCheck(t *testing.T) {
	tests := []struct{ name, arguments, want string }{
		{"right", `{"s":"x","n":7.0,"f":1,"level":3,"l":[]}`, ""},
		{"missing", `{}`, "s is missing (string)"},
		{"nearly", `{"S":"x","lvel":"low"}`, "s is missing (string); S is not known: did you mean s?; lvel is not known: did you mean level?"},
		{"not at all", `{"s":"x","zebra":1}`, "zebra is not known; there are: a.b, all, b, counts, either, f, five, in, l, level, many, maybe, n, o, s, size, words"},
		{"another type", `{"s":1,"n":1.5,"l":{}}`, "l: must be array, got an object; n: must be integer, got a number; s: must be string, got an integer"},
		{"no value of the enumeration", `{"s":"x","level":"hgh"}`, "level: must be one of low, high, 3, got hgh (did you mean high?)"},
		{"another type in a list", `{"s":"x","l":[1,"x"]}`, "l[1]: must be integer, got a string"},
		{"in an object", `{"s":"x","in":{"deep":{"n":"x"}}}`, "in.x is missing (string); in.deep.n: must be integer, got a string"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := ""
			if err := argument.NewSchema([]byte(schema)).Check([]byte(test.arguments)); err != nil {
				got = err.Error()
				var fault *argument.FaultError
				if errors.As(err, &fault) && fault.Guessed {
					t.Errorf("got %q as a guess, want it as a fault by the schema", got)
				}
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	for given, guessed := range map[string]bool{`{"anyon":1}`: true, `{"anyon":1,"other":"x"}`: false} {
		var fault *argument.FaultError
		err := argument.NewSchema([]byte(`{"properties":{"anyone":{},"other":{"type":"integer"}}}`)).Check([]byte(given))
		if !errors.As(err, &fault) || fault.Guessed != guessed {
			t.Errorf("%s: got %+v, want a guess: %v", given, err, guessed)
		}
	}
	for _, open := range []string{`{}`, `[]`, `nonsense`, `{"properties":{"anyone":{}},"additionalProperties":true}`, `{"properties":{"zebra":{}}}`, `{"properties":7}`, `{"properties":{"x":{"$ref":"#"}},"$ref":"#"}`} {
		if err := argument.NewSchema([]byte(open)).Check([]byte(`{"anyon":{"x":1},"any":{"x":1}}`)); err != nil {
			t.Errorf("schema %s: got %v, want no fault", open, err)
		}
	}
}
