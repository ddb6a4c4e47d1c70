package criteria_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
)

func parse(t testing.TB, text string) *criteria.Criteria {
	t.Helper()
	c, err := criteria.Parse(decode(t, text))
	if err != nil {
		t.Fatalf("parse %s: %v", text, err)
	}
	return c
}

const adviceAny = "Review validation criteria and adjust output accordingly."

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name, criteria, output, context string
		issues                          []string // none means valid
		suggestions                     []string // after the constant one
	}{
		{name: "no criteria", criteria: `null`, output: "x"},
		{name: "no rules", criteria: `[]`, output: "x"},
		{name: "an empty composition demands nothing", criteria: `{}`, output: ""},
		{
			name: "contains", criteria: `[{"type":"contains","value":"JWT","message":"Mention JWT"}]`, output: "uses a cookie",
			issues: []string{"Mention JWT"}, suggestions: []string{`Add the text "JWT".`},
		},
		{
			name: "contains, but for case", criteria: `{"type":"contains","value":"Rollback plan","message":"m"}`, output: "a\nThe ROLLBACK plan:",
			issues:      []string{"m"},
			suggestions: []string{`Write "Rollback plan" exactly; "ROLLBACK plan" at line 2, column 5 differs only in case.`},
		},
		{
			name: "contains, but for case, after letters whose lower case is longer or shorter", criteria: `{"type":"contains","value":"ÉTÉ","message":"m"}`, output: "ȺİK été.",
			issues:      []string{"m"},
			suggestions: []string{`Write "ÉTÉ" exactly; "été" at line 1, column 5 differs only in case.`},
		},
		{
			name: "contains, but for spacing", criteria: `{"type":"contains","value":"Rollback plan","message":"m"}`, output: "the rollback\n  plan.",
			issues:      []string{"m"},
			suggestions: []string{`Write "Rollback plan" exactly; "rollback\n  plan" at line 1, column 5 differs only in spacing or case.`},
		},
		{
			name: "contains, but for spelling", criteria: `{"type":"contains","value":"authentication","message":"m"}`, output: "the authentification, done",
			issues:      []string{"m"},
			suggestions: []string{`Write "authentication" exactly; "authentification" at line 1, column 5 differs in spelling.`},
		},
		{name: "contains finds everything in nothing", criteria: `{"type":"contains","value":"","message":"m"}`, output: ""},
		{
			name: "default texts", criteria: `[{"type":"contains","value":"a \"b\"","message":""},{"type":"regex","pattern":"c+","message":""},
				{"type":"length","min":3,"message":""},{"type":"length","max":1,"message":""}]`, output: "xy",
			issues: []string{`Output must include "a "b""`, "Pattern mismatch: c+", "Output shorter than minimum length 3", "Output exceeds maximum length 1"},
			suggestions: []string{
				`Add the text "a \"b\"".`, "Add text that matches /c+/.", "Say more: the output has 2 characters, at least 3 are needed.",
				"Say less: the output has 2 characters, at most 1 are allowed.",
			},
		},
		{
			name: "regex, but for case", criteria: `{"type":"regex","pattern":"H[1-3]","message":"m"}`, output: "see h2",
			issues: []string{"m"}, suggestions: []string{`Add text that matches /H[1-3]/; "h2" at line 1, column 5 would, but for its case.`},
		},
		{
			name: "a pattern from before rules had types", criteria: `["^x"]`, output: "y",
			issues: []string{"Output does not match pattern: ^x"}, suggestions: []string{"Add text that matches /^x/."},
		},
		{name: "length counts UTF-16 code units", criteria: `{"type":"length","min":4,"max":4,"message":"m"}`, output: "😀😀"},
		{name: "length bounds are inclusive", criteria: `{"type":"length","min":2,"max":2,"message":"m"}`, output: "ab"},
		{
			name: "all issues in order", criteria: `[{"type":"contains","value":"one","message":"first"},{"type":"contains","value":"x","message":"passes"},
				{"type":"contains","value":"two","message":"second"}]`, output: "x",
			issues: []string{"first", "second"}, suggestions: []string{`Add the text "one".`, `Add the text "two".`},
		},
		{name: "a rule whose condition does not hold", criteria: `[{"type":"contains","value":"y","message":"m","condition":{"var":"big"}}]`, output: "x", context: `{"big":false}`},
		{
			name: "a rule whose condition holds", criteria: `[{"type":"contains","value":"y","message":"m","condition":{"var":"big"}}]`, output: "x", context: `{"big":true}`,
			issues: []string{"m"}, suggestions: []string{`Add the text "y".`},
		},
		{name: "or, one passes", criteria: `{"or":[{"type":"contains","value":"jwt","message":"a"},{"type":"contains","value":"x","message":"b"}]}`, output: "x"},
		{
			name: "or, none passes", criteria: `{"or":[{"type":"contains","value":"jwt","message":"Use JWT"},{"type":"contains","value":"session","message":"Use sessions"}]}`, output: "x",
			issues:      []string{"At least one of these is needed: Use JWT; Use sessions"},
			suggestions: []string{`One of these is enough: (1) Add the text "jwt". (2) Add the text "session".`},
		},
		{
			name: "or in and", criteria: `{"and":[{"type":"contains","value":"auth","message":"Say auth"},{"or":[{"type":"contains","value":"jwt","message":"Use JWT"},
				{"and":[{"type":"contains","value":"session","message":"Use sessions"},{"type":"contains","value":"cookie","message":"Use cookies"}]}]}]}`, output: "x",
			issues: []string{"Say auth", "At least one of these is needed: Use JWT; Use sessions and Use cookies"},
			suggestions: []string{
				`Add the text "auth".`, `One of these is enough: (1) Add the text "jwt". (2) Add the text "session". Add the text "cookie".`,
			},
		},
		{name: "not passes", criteria: `{"not":{"type":"contains","value":"WIP","message":"No WIP"}}`, output: "done"},
		{
			name: "not fails", criteria: `{"not":{"type":"contains","value":"WIP","message":"No WIP"}}`, output: "a\nb WIP",
			issues: []string{"No WIP"}, suggestions: []string{`Take out "WIP" at line 2, column 3.`},
		},
		{
			name: "not of and", criteria: `{"not":{"and":[{"type":"contains","value":"a","message":"No a"},{"type":"regex","pattern":"b+","message":"No b"}]}}`, output: "abb",
			issues:      []string{"These must not all hold: No a; No b"},
			suggestions: []string{`One of these is enough: (1) Take out "a" at line 1, column 1. (2) Take out "bb" at line 1, column 2, which matches /b+/.`},
		},
		{
			name: "not of or", criteria: `{"not":{"or":[{"type":"contains","value":"a","message":"No a"},{"type":"contains","value":"z","message":"No z"},{"type":"length","min":1,"message":"No text"}]}}`, output: "a",
			issues:      []string{"No a", "No text"},
			suggestions: []string{`Take out "a" at line 1, column 1.`, "Change the length: 1 character is not allowed."},
		},
		{name: "not of not", criteria: `{"not":{"not":{"type":"contains","value":"a","message":"m"}}}`, output: "a"},
		{name: "not of a skipped rule", criteria: `{"not":{"type":"contains","value":"a","message":"m","condition":{"var":"v"}}}`, output: "a", context: `{"v":false}`},
		{
			name: "or of a skipped and a failed rule", criteria: `{"or":[{"type":"contains","value":"y","message":"m","condition":{"var":"v"}},{"type":"contains","value":"z","message":"n"}]}`,
			output: "x", context: `{"v":false}`,
		},
		{
			name: "and of a skipped and a failed rule", criteria: `{"and":[{"type":"contains","value":"y","message":"m","condition":{"var":"v"}},{"type":"contains","value":"z","message":"n"}]}`,
			output: "x", context: `{"v":false}`, issues: []string{"n"}, suggestions: []string{`Add the text "z".`},
		},
		{
			name: "a composition in an array", criteria: `[{"not":{"type":"contains","value":"a","message":"No a"}}]`, output: "a",
			issues: []string{"No a"}, suggestions: []string{`Take out "a" at line 1, column 1.`},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			variables := map[string]any{}
			if tt.context != "" {
				variables = object(t, tt.context)
			}
			got := parse(t, tt.criteria).Check(t.Context(), tt.output, variables, criteria.Options{})
			if got.Valid() != (tt.issues == nil) || !slices.Equal(got.Issues(), tt.issues) {
				t.Errorf("got valid %v, issues %q, want %q", got.Valid(), got.Issues(), tt.issues)
			}
			want := tt.suggestions
			if tt.issues != nil {
				want = append([]string{adviceAny}, want...)
			}
			if !slices.Equal(got.Suggestions, want) {
				t.Errorf("suggestions: got %q, want %q", got.Suggestions, want)
			}
			if b, err := json.Marshal(got); err != nil || !strings.Contains(string(b), `"issues":[`) || !strings.Contains(string(b), `"suggestions":[`) {
				t.Errorf("got %s, %v, want two lists", b, err)
			}
		})
	}
}

func TestCheckBlank(t *testing.T) {
	for _, c := range []*criteria.Criteria{nil, parse(t, `[]`)} {
		got := c.Check(t.Context(), " \n\t", nil, criteria.Options{})
		if got.Valid() || !slices.Equal(got.Issues(), []string{"Output is empty or invalid."}) || !slices.Equal(got.Suggestions, []string{"Provide valid output content."}) {
			t.Errorf("got %+v", got)
		}
	}
}

// A rule left out because nobody told the server a variable looks like one that passed, so the verdict says it.
func TestCheckWarnsOfUnsetVariables(t *testing.T) {
	c := parse(t, `[{"type":"contains","value":"y","message":"Say y","condition":{"and":[{"var":"scope","equals":"large"},{"var":"team"}]}},
		{"type":"contains","value":"z","message":"Say z","condition":{"var":"known"}}]`)
	got := c.Check(t.Context(), "x", map[string]any{"known": false}, criteria.Options{})
	want := []string{"Not checked, because the context does not set scope, team: Say y"}
	if !got.Valid() || !slices.Equal(got.Warnings, want) {
		t.Errorf("got %+v, want valid with the warning %q", got, want)
	}
}

func TestCheckMode(t *testing.T) {
	c := parse(t, `{"type":"contains","value":"y","message":"m","condition":{"var":"scope","equals":"large"}}`)
	for mode, want := range map[criteria.Mode]bool{criteria.Strict: true, criteria.Lenient: false} {
		got := c.Check(t.Context(), "x", map[string]any{"scope": "Large"}, criteria.Options{Mode: mode})
		if got.Valid() != want {
			t.Errorf("mode %d: got valid %v, want %v", mode, got.Valid(), want)
		}
	}
}

func TestExplain(t *testing.T) {
	c := parse(t, `{"and":[
		{"type":"contains","value":"plan","message":"Name the plan"},
		{"or":[{"type":"contains","value":"jwt","message":"Use JWT"},{"type":"length","min":50,"message":"Say enough"}]},
		{"not":{"type":"regex","pattern":"wip","flags":"i","message":"No open ends"}},
		{"type":"contains","value":"x","message":"When large","condition":{"var":"large"}}]}`)
	got := c.Check(t.Context(), "the plan\nuses Jwt: WIP", map[string]any{"large": false}, criteria.Options{})
	if got.Valid() {
		t.Fatal("valid")
	}
	b, err := json.MarshalIndent(got.Explain, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	want := `{
 "kind": "and",
 "outcome": "failed",
 "children": [
  {
   "kind": "contains",
   "outcome": "passed",
   "expected": "the text \"plan\"",
   "got": "\"plan\"",
   "where": "line 1, column 5",
   "message": "Name the plan"
  },
  {
   "kind": "or",
   "outcome": "failed",
   "children": [
    {
     "kind": "contains",
     "outcome": "failed",
     "expected": "the text \"jwt\"",
     "got": "\"Jwt\", which differs only in case",
     "where": "line 2, column 6",
     "message": "Use JWT"
    },
    {
     "kind": "length",
     "outcome": "failed",
     "expected": "at least 50 characters",
     "got": "22 characters",
     "message": "Say enough"
    }
   ]
  },
  {
   "kind": "not",
   "outcome": "failed",
   "children": [
    {
     "kind": "regex",
     "outcome": "passed",
     "expected": "a match of /wip/i",
     "got": "\"WIP\"",
     "where": "line 2, column 11",
     "message": "No open ends"
    }
   ]
  },
  {
   "kind": "contains",
   "outcome": "skipped",
   "message": "When large"
  }
 ]
}`
	if string(b) != want {
		t.Errorf("got\n%s\nwant\n%s", b, want)
	}
}

func TestParseErrors(t *testing.T) {
	deep := strings.Repeat(`{"not":`, 64) + `{"type":"length","message":"m"}` + strings.Repeat(`}`, 64)
	for _, tt := range []struct{ name, criteria, path, reason string }{
		{"a string", `"x"`, "", "a rule is an object, this is a string"},
		{"a number", `5`, "", "this is a number"},
		{"no type and no operator", `{"foo":1}`, "", `exactly one of "and", "or" and "not"`},
		{"two operators", `{"and":[],"or":[]}`, "", "exactly one"},
		{"an empty and", `{"and":[]}`, "/and", "at least one rule"},
		{"an or of an object", `{"or":{}}`, "/or", "an array of criteria"},
		{"an array in an array", `[[]]`, "/0", "this is an array"},
		{"a null", `{"not":null}`, "/not", "this is null"},
		{"an empty composition inside", `{"not":{}}`, "/not", "exactly one"},
		{"an unknown type", `[{"type":"contain","value":"x","message":"m"}]`, "/0/type", "unsupported validation rule type: contain"},
		{"an unknown member", `[{"type":"contains","value":"x","message":"m","flag":"i"}]`, "/0/flag", `"flag" is not a member of a rule`},
		{"contains without value", `[{"type":"contains","message":"m"}]`, "/0", `needs "value"`},
		{"contains of a number", `[{"type":"contains","value":1,"message":"m"}]`, "/0/value", "is a string, this is a number"},
		{"regex without pattern", `[{"type":"regex","message":"m"}]`, "/0", `needs "pattern"`},
		{"regex that does not compile", `{"and":[{"type":"regex","pattern":"(","message":"m"}]}`, "/and/0/pattern", "invalid regex pattern in validationCriteria: (: a group is not closed"},
		{"a legacy pattern that does not compile", `["("]`, "/0/pattern", "not closed"},
		{"length of a string", `[{"type":"length","min":"3","message":"m"}]`, "/0/min", "is a number, this is a string"},
		{"length that nothing has", `[{"type":"length","min":3,"max":2,"message":"m"}]`, "/0/min", "no output can pass"},
		{"schema without schema", `[{"type":"schema","message":"m"}]`, "/0", `needs "schema"`},
		{"a bad condition", `[{"type":"length","message":"m","condition":{"and":[{"x":1}]}}]`, "/0/condition/and/0/x", "not an operator"},
		{"a message that is no string", `[{"type":"length","message":1}]`, "/0/message", "this is a number"},
		{"too deep", deep, strings.Repeat("/not", 64), "deeper than 64"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := criteria.Parse(decode(t, tt.criteria))
			var shape *criteria.ShapeError
			if !errors.As(err, &shape) {
				t.Fatalf("got %v, want a ShapeError", err)
			}
			if shape.Path != tt.path || !strings.Contains(shape.Reason, tt.reason) {
				t.Errorf("got %q: %q, want %q: …%s…", shape.Path, shape.Reason, tt.path, tt.reason)
			}
		})
	}
}

func TestMessages(t *testing.T) {
	c := parse(t, `{"and":[{"type":"contains","value":"a","message":"one"},{"not":{"type":"regex","pattern":"b","message":""}},
		{"or":[{"type":"length","min":1,"max":2,"message":""},{"type":"schema","schema":{},"message":"four"}]}]}`)
	want := []string{"one", "Pattern mismatch: b", "Output must have a length from 1 to 2", "four"}
	if got := c.Messages(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := parse(t, `[]`).Messages(); got != nil {
		t.Errorf("no criteria: got %q", got)
	}
}

// When the caller gives up, what was not judged by then is an issue, never a pass.
func TestCheckCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the client has gone"))
	got := parse(t, `[{"type":"contains","value":"x","message":"Say x"}]`).Check(ctx, "x", nil, criteria.Options{})
	want := []string{"Say x (the client has gone)"}
	if got.Valid() || !slices.Equal(got.Issues(), want) {
		t.Errorf("got %+v, want the issue %q", got, want)
	}
}

func TestSuggestionsAreLimited(t *testing.T) {
	var rules []any
	for i := range 100 {
		rules = append(rules, map[string]any{"type": "contains", "value": strings.Repeat("y", i+1), "message": "m"})
	}
	c, err := criteria.Parse(rules)
	if err != nil {
		t.Fatal(err)
	}
	got := c.Check(t.Context(), "x", nil, criteria.Options{})
	if len(got.Issues()) != 100 || len(got.Suggestions) != 21 || got.Suggestions[20] != "Then check again; left out here: 81 more." {
		t.Errorf("got %d issues, %d suggestions, the last %q", len(got.Issues()), len(got.Suggestions), got.Suggestions[len(got.Suggestions)-1])
	}
}
