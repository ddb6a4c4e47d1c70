package criteria_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
)

// jsonValue reads fuzzed text, or gives false where it is not JSON.
func jsonValue(text string) (any, bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	return v, d.Decode(&v) == nil
}

func FuzzCondition(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"var":"a","equals":1}`, `{"a":"1"}`},
		{`{"and":[{"var":"a","gt":1},{"not":{"var":"b","in":[1,"x",null]}}]}`, `{"a":2e300,"b":{}}`},
		{`{"or":[{"var":"a","matches":"(a+)+$"},{"var":"b","contains":"x"}]}`, `{"a":"aaaaab","b":["X"]}`},
		{`{"not":{"var":"missing"}}`, `{}`},
		{`{"var":"a","equals":{"x":[[[]]]}}`, `{"a":{"x":[[[]]]}}`},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, condition, context string) {
		v, ok := jsonValue(condition)
		if !ok {
			t.Skip("not JSON")
		}
		c, err := criteria.ParseCondition(v)
		if err != nil {
			var shape *criteria.ShapeError
			if !errors.As(err, &shape) {
				t.Fatalf("%v is not a ShapeError", err)
			}
			return
		}
		parsed, _ := jsonValue(context)
		variables, _ := parsed.(map[string]any)
		for _, mode := range []criteria.Mode{criteria.Strict, criteria.Lenient} {
			tests, _ := c.Unset(criteria.NewScope(t.Context(), variables, mode))
			for _, v := range tests {
				if variables[v.Name] != nil {
					t.Errorf("missing names %q, which is there", v.Name)
				}
			}
			if holds, err := c.Eval(variables, mode); holds && err != nil {
				t.Errorf("it holds, and nobody knows whether: %v", err)
			}
		}
	})
}

func FuzzCriteria(f *testing.F) {
	for _, seed := range [][2]string{
		{`[{"type":"contains","value":"x y","message":"m"}]`, "X  Y"},
		{`{"and":[{"type":"regex","pattern":"(?i)^a.$","flags":"m","message":"m"},{"not":{"type":"length","max":3,"message":""}}]}`, "é\r\na😀"},
		{`{"or":[{"type":"schema","message":"","schema":{"anyOf":[{"type":"object","required":["a"]},{"enum":["x"]}]}}]}`, "```json\n{\"A\":1}\n```"},
		{`{"type":"schema","message":"","schema":{"minimum":1,"multipleOf":0.1}}`, `"1e99999"`},
		{`["(a*)*b"]`, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac"},
		{`{"type":"schema","message":"","schema":{"$ref":"#"}}`, `{}`},
		{`{"type":"schema","message":"","schema":{"$id":"x","$schema":"https://json-schema.org/draft/2020-12/schema","$dynamicRef":"#a"}}`, `{}`},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, rules, output string) {
		v, ok := jsonValue(rules)
		if !ok {
			t.Skip("not JSON")
		}
		c, err := criteria.Parse(v)
		if err != nil {
			var shape *criteria.ShapeError
			var schema *criteria.SchemaError
			if !errors.As(err, &shape) && !errors.As(err, &schema) {
				t.Fatalf("%v is neither a ShapeError nor a SchemaError", err)
			}
			return
		}
		got := c.Check(t.Context(), output, nil, criteria.Options{})
		if got.Valid() != (len(got.Issues()) == 0) || got.Valid() != (len(got.Suggestions) == 0) {
			t.Errorf("a verdict that contradicts itself: %+v", got)
		}
	})
}

// FuzzPattern turns any text into a pattern: whatever compiles here is run over a text that has a bit of everything.
func FuzzPattern(f *testing.F) {
	for _, seed := range [][2]string{
		{`(?i)a.b`, ``}, {`^[\w-]+$`, `m`}, {`(?<n>x)\k<n>`, ``}, {`(?s-m:.)(?<!a)`, `iy`}, {`[^\]]{2,}?`, `g`}, {`\u{1F600}\cA\x0z`, `u`}, {`(((a*)*)*)*b`, ``},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, flags string) {
		c, err := parseRegex(pattern, flags)
		if err != nil {
			return
		}
		c.Check(t.Context(), "aaa\nAb\r\n\u2028 é😀 x-1 [] {}", nil, criteria.Options{})
	})
}
