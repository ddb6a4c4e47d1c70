package criteria_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
)

func TestEval(t *testing.T) {
	context := object(t, `{"a":1, "s":"x", "z":0, "e":"", "n":null, "t":true, "f":false, "arr":[1], "none":[], "obj":{"k":[1,"two"]},
		"big":"5", "size":"Large ", "yes":"Yes", "huge":9007199254740993, "half":0.5, "words":["Alpha","beta"]}`)
	for _, tt := range []struct {
		condition       string
		strict, lenient bool
	}{
		{`{}`, true, true},
		{`null`, true, true},
		// A variable alone is tested for truth.
		{`{"var":"a"}`, true, true},
		{`{"var":"z"}`, false, false},
		{`{"var":"e"}`, false, false},
		{`{"var":"n"}`, false, false},
		{`{"var":"missing"}`, false, false},
		{`{"var":"arr"}`, true, true},
		{`{"var":"none"}`, true, true},
		{`{"var":"obj"}`, true, true},
		// Equality converts nothing unless lenient.
		{`{"var":"a","equals":1}`, true, true},
		{`{"var":"a","equals":1.0}`, true, true},
		{`{"var":"a","equals":"1"}`, false, true},
		{`{"var":"a","equals":" 1.0 "}`, false, true},
		{`{"var":"z","equals":""}`, false, false},
		{`{"var":"big","equals":5}`, false, true},
		{`{"var":"big","not_equals":5}`, true, false},
		{`{"var":"s","equals":"X"}`, false, true},
		{`{"var":"s","not_equals":"X"}`, true, false},
		{`{"var":"size","equals":"large"}`, false, true},
		{`{"var":"t","equals":"true"}`, false, true},
		{`{"var":"t","equals":1}`, false, false},
		{`{"var":"yes","equals":true}`, false, true},
		{`{"var":"yes","equals":false}`, false, false},
		{`{"var":"f","equals":"no"}`, false, true},
		{`{"var":"huge","equals":9007199254740992}`, false, false},
		{`{"var":"huge","equals":9007199254740993}`, true, true},
		// null is the same as absent.
		{`{"var":"n","equals":null}`, true, true},
		{`{"var":"missing","equals":null}`, true, true},
		{`{"var":"missing","not_equals":null}`, false, false},
		{`{"var":"a","not_equals":null}`, true, true},
		{`{"var":"missing","not_equals":"x"}`, true, true},
		// Arrays and objects are compared by what they hold.
		{`{"var":"arr","equals":[1]}`, true, true},
		{`{"var":"arr","not_equals":[1]}`, false, false},
		{`{"var":"arr","not_equals":[]}`, true, true},
		{`{"var":"arr","equals":["1"]}`, false, true},
		{`{"var":"obj","equals":{"k":[1,"two"]}}`, true, true},
		{`{"var":"obj","equals":{"k":[1,"TWO"]}}`, false, true},
		{`{"var":"obj","equals":{"k":[1,"two"],"l":0}}`, false, false},
		// Order demands numbers.
		{`{"var":"a","gt":0}`, true, true},
		{`{"var":"a","gt":1}`, false, false},
		{`{"var":"a","gte":1}`, true, true},
		{`{"var":"half","lt":1}`, true, true},
		{`{"var":"half","lte":0.5}`, true, true},
		{`{"var":"big","gt":4}`, false, false},
		{`{"var":"missing","lt":4}`, false, false},
		{`{"var":"huge","gt":9007199254740992}`, true, true},
		{`{"var":"a","lt":1e999}`, true, true},
		// The first operator decides, the others are ignored.
		{`{"var":"a","gt":0,"lt":1}`, true, true},
		{`{"var":"a","equals":1,"not_equals":1}`, true, true},
		{`{"var":"a","and":[{"var":"z"}]}`, true, true},
		{`{"and":[{"var":"a"}],"or":[{"var":"z"}]}`, true, true},
		// Combinations.
		{`{"and":[]}`, true, true},
		{`{"or":[]}`, false, false},
		{`{"and":[{"var":"a"},{"var":"z"}]}`, false, false},
		{`{"or":[{"var":"z"},{"var":"a"}]}`, true, true},
		{`{"not":{"var":"missing"}}`, true, true},
		{`{"not":{"not":{"var":"a"}}}`, true, true},
		// Names are literal, and only what is in the context is there.
		{`{"var":"obj.k"}`, false, false},
		{`{"var":"constructor"}`, false, false},
		{`{"var":"__proto__"}`, false, false},
		{`{"var":"toString","not_equals":null}`, false, false},
		// Membership and text.
		{`{"var":"s","in":["x","y"]}`, true, true},
		{`{"var":"s","in":["X"]}`, false, true},
		{`{"var":"a","in":["1"]}`, false, true},
		{`{"var":"missing","in":[null]}`, true, true},
		{`{"var":"a","in":[]}`, false, false},
		{`{"var":"size","contains":"arg"}`, true, true},
		{`{"var":"size","contains":"ARG"}`, false, true},
		{`{"var":"words","contains":"beta"}`, true, true},
		{`{"var":"words","contains":"alpha"}`, false, true},
		{`{"var":"words","contains":"bet"}`, false, true},
		{`{"var":"missing","contains":""}`, false, true},
		{`{"var":"huge","contains":"0993"}`, false, true},
		{`{"var":"size","startsWith":"La"}`, true, true},
		{`{"var":"size","startsWith":"la"}`, false, true},
		{`{"var":"size","endsWith":"e "}`, true, true},
		{`{"var":"t","startsWith":"tr"}`, false, true},
		{`{"var":"size","matches":"^L\\w+"}`, true, true},
		{`{"var":"size","matches":"^l\\w+"}`, false, true},
		{`{"var":"big","matches":"^\\d$"}`, true, true},
		{`{"var":"a","matches":"^\\d$"}`, false, true},
	} {
		t.Run(tt.condition, func(t *testing.T) {
			c, err := criteria.ParseCondition(decode(t, tt.condition))
			if err != nil {
				t.Fatal(err)
			}
			if got := eval(t, c, context, criteria.Strict); got != tt.strict {
				t.Errorf("strict: got %v, want %v", got, tt.strict)
			}
			if got := eval(t, c, context, criteria.Lenient); got != tt.lenient {
				t.Errorf("lenient: got %v, want %v", got, tt.lenient)
			}
		})
	}
}

// YAML files and Go code give other types of numbers than JSON.
func TestEvalGoNumbers(t *testing.T) {
	c, err := criteria.ParseCondition(map[string]any{"var": "n", "gte": 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		n    any
		want bool
	}{
		{3, true}, {int64(2), false}, {uint64(1 << 63), true}, {3.5, true}, {2.9, false}, {"3", false},
	} {
		if got := eval(t, c, map[string]any{"n": tt.n}, criteria.Strict); got != tt.want {
			t.Errorf("n = %T %v: got %v, want %v", tt.n, tt.n, got, tt.want)
		}
	}
}

func TestNilConditionHolds(t *testing.T) {
	var c *criteria.Condition
	if !eval(t, c, nil, criteria.Strict) || c.Vars() != nil || missing(t, c, nil, criteria.Strict) != nil || c.Ignored() != nil {
		t.Error("a nil condition does not hold, or names variables")
	}
}

func TestParseConditionErrors(t *testing.T) {
	deep := strings.Repeat(`{"not":`, 64) + `{"var":"a"}` + strings.Repeat(`}`, 64)
	for _, tt := range []struct {
		name, condition, path, reason string
	}{
		{"a string", `"x"`, "", "an object, this is a string"},
		{"an array", `[]`, "", "an object, this is an array"},
		{"an unknown operator", `{"var":"a","equal":1}`, "/equal", `"equal" is not an operator`},
		{"an operator without a variable", `{"equals":1}`, "", `needs "var"`},
		{"a variable that is no name", `{"var":1}`, "/var", "this is a number"},
		{"an order of strings", `{"var":"a","gt":"0"}`, "/gt", "this is a string"},
		{"in of a string", `{"var":"a","in":"x"}`, "/in", "an array of values"},
		{"contains of a number", `{"var":"a","contains":1}`, "/contains", "takes a string"},
		{"a pattern that does not compile", `{"var":"a","matches":"("}`, "/matches", "not closed"},
		{"and of an object", `{"and":{"var":"a"}}`, "/and", "an array of conditions"},
		{"an empty part", `{"and":[{"var":"a"},{}]}`, "/and/1", "empty"},
		{"not of null", `{"not":null}`, "/not", "this is null"},
		{"a fault inside", `{"or":[{"not":{"bogus":1}}]}`, "/or/0/not/bogus", "not an operator"},
		{"too deep", deep, strings.Repeat("/not", 64), "deeper than 64"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := criteria.ParseCondition(decode(t, tt.condition))
			var shape *criteria.ShapeError
			if !errors.As(err, &shape) {
				t.Fatalf("got %v, want a ShapeError", err)
			}
			if shape.Path != tt.path || !strings.Contains(shape.Reason, tt.reason) {
				t.Errorf("got %q: %q, want %q: …%s…", shape.Path, shape.Reason, tt.path, tt.reason)
			}
		})
	}
	fits := strings.Repeat(`{"not":`, 63) + `{"var":"a"}` + strings.Repeat(`}`, 63)
	if _, err := criteria.ParseCondition(decode(t, fits)); err != nil {
		t.Errorf("63 levels: %v", err)
	}
}

func TestIgnored(t *testing.T) {
	for _, tt := range []struct {
		condition string
		want      []string
	}{
		{`{"var":"a","gt":0}`, nil},
		{`{"var":"a","gt":0,"lt":1}`, []string{"/lt"}},
		{`{"var":"a","and":[]}`, []string{"/and"}},
		{`{"not":{"and":[{"var":"a"}],"or":[]},"equals":1}`, []string{"/equals", "/not/or"}},
	} {
		c, err := criteria.ParseCondition(decode(t, tt.condition))
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Ignored(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.condition, got, tt.want)
		}
	}
}

func TestVars(t *testing.T) {
	c, err := criteria.ParseCondition(decode(t, `{"and":[{"var":"path","equals":"Epic"},{"not":{"var":"done"}},{"var":"path","in":["a"]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	got := c.Vars()
	want := []criteria.VarTest{{"path", "equals", "Epic"}, {"done", "", nil}, {"path", "in", []any{"a"}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestMissing(t *testing.T) {
	for _, tt := range []struct {
		name, condition, context string
		want                     string // name and operator of each
	}{
		{"absent", `{"var":"a","equals":1}`, `{}`, "a equals"},
		{"null counts as absent", `{"var":"a","equals":1}`, `{"a":null}`, "a equals"},
		{"present decides", `{"var":"a","equals":1}`, `{"a":2}`, ""},
		{"empty text is present", `{"var":"a"}`, `{"a":""}`, ""},
		{"and, one present and false", `{"and":[{"var":"a"},{"var":"b"}]}`, `{"b":false}`, ""},
		{"and, one present and true", `{"and":[{"var":"a"},{"var":"b"}]}`, `{"b":true}`, "a "},
		{"and, both absent", `{"and":[{"var":"a"},{"var":"b"}]}`, `{}`, "a , b "},
		{"and, what already holds is not asked for", `{"and":[{"var":"a","equals":1},{"var":"b","not_equals":2}]}`, `{}`, "a equals"},
		{"or, one present and true", `{"or":[{"var":"a"},{"var":"b"}]}`, `{"b":true}`, ""},
		{"or, one present and false", `{"or":[{"var":"a"},{"var":"b"}]}`, `{"b":false}`, "a "},
		{"not", `{"not":{"var":"a","not_equals":1}}`, `{}`, "a not_equals"},
		{"holds, and could be turned", `{"var":"a","not_equals":1}`, `{}`, "a not_equals"},
		{"or that holds by an absent variable", `{"or":[{"var":"a","not_equals":1},{"var":"b"}]}`, `{}`, "a not_equals"},
		{"nothing to turn", `{"and":[]}`, `{}`, ""},
		{"a part that is decided", `{"or":[{"and":[{"var":"a"},{"var":"b"}]},{"var":"c","gt":3}]}`, `{"b":0}`, "c gt"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := criteria.ParseCondition(decode(t, tt.condition))
			if err != nil {
				t.Fatal(err)
			}
			var list []string
			for _, v := range missing(t, c, object(t, tt.context), criteria.Strict) {
				list = append(list, v.Name+" "+v.Op)
			}
			if got := strings.Join(list, ", "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// Whether a variable decides depends on how it is compared.
func TestMissingMode(t *testing.T) {
	c, err := criteria.ParseCondition(decode(t, `{"and":[{"var":"size","equals":"large"},{"var":"owner"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	context := map[string]any{"size": "Large"}
	if got := missing(t, c, context, criteria.Strict); got != nil {
		t.Errorf("strict: got %v, want none: size has decided", got)
	}
	if got := fmt.Sprint(missing(t, c, context, criteria.Lenient)); got != "[{owner  <nil>}]" {
		t.Errorf("lenient: got %s, want owner", got)
	}
}

// A parsed condition does not change when the value it was parsed from does, nor through what it hands out.
func TestConditionIsClosed(t *testing.T) {
	list := []any{"x"}
	c, err := criteria.ParseCondition(map[string]any{"var": "a", "in": list})
	if err != nil {
		t.Fatal(err)
	}
	list[0] = "changed"
	c.Vars()[0].Value.([]any)[0] = "changed"
	if !eval(t, c, map[string]any{"a": "x"}, criteria.Strict) {
		t.Error("the condition changed with what it was parsed from")
	}
}

func eval(t *testing.T, c *criteria.Condition, context map[string]any, mode criteria.Mode) bool {
	t.Helper()
	holds, err := c.Eval(context, mode)
	if err != nil {
		t.Error(err)
	}
	return holds
}

func missing(t *testing.T, c *criteria.Condition, context map[string]any, mode criteria.Mode) []criteria.VarTest {
	t.Helper()
	tests, err := c.Unset(criteria.NewScope(t.Context(), context, mode))
	if err != nil {
		t.Error(err)
	}
	return tests
}

// Every operator refuses an operand that it can do nothing with, and none does the work of another.
func TestOperators(t *testing.T) {
	context := map[string]any{"n": 5, "text": "abcabd", "list": []any{"a", "b"}}
	for op, want := range map[string]struct{ holds, fails, refused string }{
		"equals":     {`{"var":"n","equals":5}`, `{"var":"n","equals":6}`, ``},
		"not_equals": {`{"var":"n","not_equals":6}`, `{"var":"n","not_equals":5}`, ``},
		"gt":         {`{"var":"n","gt":4}`, `{"var":"n","gt":5}`, `{"var":"n","gt":"4"}`},
		"gte":        {`{"var":"n","gte":5}`, `{"var":"n","gte":6}`, `{"var":"n","gte":null}`},
		"lt":         {`{"var":"n","lt":6}`, `{"var":"n","lt":5}`, `{"var":"n","lt":[]}`},
		"lte":        {`{"var":"n","lte":5}`, `{"var":"n","lte":4}`, `{"var":"n","lte":true}`},
		"in":         {`{"var":"n","in":[5]}`, `{"var":"n","in":[]}`, `{"var":"n","in":5}`},
		"contains":   {`{"var":"text","contains":"ca"}`, `{"var":"text","contains":"da"}`, `{"var":"text","contains":1}`},
		"startsWith": {`{"var":"text","startsWith":"abc"}`, `{"var":"text","startsWith":"abd"}`, `{"var":"text","startsWith":{}}`},
		"endsWith":   {`{"var":"text","endsWith":"abd"}`, `{"var":"text","endsWith":"abc"}`, `{"var":"text","endsWith":null}`},
		"matches":    {`{"var":"text","matches":"b.*b"}`, `{"var":"text","matches":"b$"}`, `{"var":"text","matches":"("}`},
	} {
		for text, holds := range map[string]bool{want.holds: true, want.fails: false} {
			c, err := criteria.ParseCondition(decode(t, text))
			if err != nil {
				t.Fatal(err)
			}
			if got := eval(t, c, context, criteria.Strict); got != holds || c.Vars()[0].Op != op {
				t.Errorf("%s: got %v, want %v, by %s", text, got, holds, op)
			}
		}
		var shape *criteria.ShapeError
		if want.refused != "" {
			if _, err := criteria.ParseCondition(decode(t, want.refused)); !errors.As(err, &shape) {
				t.Errorf("%s: got %v, want a ShapeError", want.refused, err)
			}
		}
		// What the refusal of an unknown operator lists is what this table has.
		if _, err := criteria.ParseCondition(decode(t, `{"var":"a","between":"bc"}`)); !errors.As(err, &shape) || !strings.Contains(shape.Reason, op) {
			t.Errorf("got %v, want the known operators with %s", err, op)
		}
	}
	_, err := criteria.ParseCondition(decode(t, `{"var":"a","between":"bc"}`))
	_, known, _ := strings.Cut(fmt.Sprint(err), "known are ")
	if got := strings.Count(known, ",") + 1; got != 11+4 {
		t.Errorf("got %d names in %q, want the eleven of the table, var, and, or and not", got, known)
	}
}
