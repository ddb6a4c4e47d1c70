package criteria_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
)

// slow is a text that the pattern of slowRule is not done with in any time.
const slow = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/../../etc"

const slowPattern = `^([a-z]+ ?)+$`

// What could not be judged is not valid, whatever stands around it, and the verdict says so at a place.
func TestFaultG73_UndecidedIsNotValid(t *testing.T) {
	deep := strings.Repeat("[", 300) + strings.Repeat("]", 300)
	deepest := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
	many := "[" + strings.Repeat("1,", 60_000) + "1]"
	schema := func(s string) string { return `{"type":"schema","schema":` + s + `}` }
	contains := `{"type":"contains","value":"etc","condition":{"var":"v","matches":"` + slowPattern + `"}}`
	for name, tt := range map[string]struct{ criteria, output, where string }{
		"a pattern":                       {schema(`{"properties":{"dir":{"pattern":"` + slowPattern + `"}}}`), `{"dir":"` + slow + `"}`, "/dir"},
		"the names of properties":         {schema(`{"propertyNames":{"pattern":"` + slowPattern + `"}}`), `{"a":[{"` + slow + `":1}],"` + slow + `":1}`, "/" + strings.ReplaceAll(slow, "/", "~1")},
		"a pattern in a not":              {schema(`{"items":{"not":{"pattern":"` + slowPattern + `"}}}`), `["x", "` + slow + `"]`, "/1"},
		"a regex":                         {`{"type":"regex","pattern":"` + slowPattern + `"}`, slow, ""},
		"a regex in a not":                {`{"not":{"type":"regex","pattern":"` + slowPattern + `"}}`, slow, ""},
		"the condition of a rule":         {contains, "x", ""},
		"the opposite of a condition":     {strings.ReplaceAll(strings.ReplaceAll(contains, `"condition":{`, `"condition":{"not":{`), `"}}`, `"}}}`), "x", ""},
		"too deep in a not":               {`{"not":` + schema(`{"type":"array"}`) + `}`, deep, ""},
		"too deep for any reader":         {`{"not":` + schema(`{"type":"array"}`) + `}`, deepest, ""},
		"too much in a not":               {`{"not":` + schema(`{"type":"array"}`) + `}`, many, ""},
		"a string of too much in a not":   {`{"not":` + schema(`{"type":"array"}`) + `}`, `"` + many + `"`, ""},
		"of two alternatives":             {`{"or":[{"type":"contains","value":"zzz"},` + contains + `]}`, "x", ""},
		"beside something that is passed": {`[{"type":"contains","value":"x"},` + contains + `]`, "x", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := parse(t, tt.criteria).Check(t.Context(), tt.output, map[string]any{"v": slow}, criteria.Options{})
			faults := got.Faults()
			if got.Valid() || len(got.Issues()) == 0 || len(got.Suggestions) == 0 || len(faults) == 0 {
				t.Fatalf("got %+v, want it not to be valid", got)
			}
			for _, n := range faults {
				if n.Outcome == criteria.Undecided && strings.HasSuffix(n.Where, tt.where) && n.Got != "" {
					return
				}
			}
			t.Errorf("got %+v, want an undecided fault at %q", *faults[0], tt.where)
		})
	}
}

// A condition of which nobody knows whether it holds is an error, unless what is known decides.
func TestFaultG73_UndecidedCondition(t *testing.T) {
	const test = `{"var":"v","matches":"` + slowPattern + `"}`
	for name, tt := range map[string]struct {
		condition string
		decided   bool
		holds     bool
	}{
		"alone":           {test, false, false},
		"not":             {`{"not":` + test + `}`, false, false},
		"or, one holds":   {`{"or":[` + test + `,{"var":"yes"}]}`, true, true},
		"or, none holds":  {`{"or":[` + test + `,{"var":"no"}]}`, false, false},
		"and, one fails":  {`{"and":[` + test + `,{"var":"no"}]}`, true, false},
		"and, none fails": {`{"and":[` + test + `,{"var":"yes"}]}`, false, false},
		"not and":         {`{"not":{"and":[` + test + `,{"var":"yes"}]}}`, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := criteria.ParseCondition(decode(t, tt.condition))
			if err != nil {
				t.Fatal(err)
			}
			context := map[string]any{"v": slow, "yes": true, "no": false}
			holds, err := c.Eval(context, criteria.Strict)
			var undecided *criteria.UndecidedError
			if errors.As(err, &undecided) == tt.decided || holds != tt.holds {
				t.Errorf("got %v, %v, want %v, decided %v", holds, err, tt.holds, tt.decided)
			}
			if err != nil && undecided.Variable != "v" {
				t.Errorf("got %v, want the variable named", err)
			}
			if _, err := c.Unset(criteria.NewScope(t.Context(), context, criteria.Strict)); (err == nil) != tt.decided {
				t.Errorf("missing: got %v, decided %v", err, tt.decided)
			}
		})
	}
}

// A verdict has no third reading: who was not judged is not valid, and whoever is not valid is told why.
func TestVerdict(t *testing.T) {
	for name, tt := range map[string]struct {
		verdict criteria.Verdict
		valid   bool
	}{
		"of nobody":   {criteria.Verdict{}, false},
		"for nothing": {criteria.Reject(), false},
		"against":     {criteria.Reject("too late"), false},
		"for":         {criteria.Accept(), true},
	} {
		v := tt.verdict
		if v.Valid() != tt.valid || len(v.Issues()) == 0 != tt.valid || len(v.Faults()) == 0 != tt.valid {
			t.Errorf("%s: got valid %v, issues %q, %d faults", name, v.Valid(), v.Issues(), len(v.Faults()))
		}
		b, err := json.Marshal(v)
		if want := `"valid":` + map[bool]string{true: "true", false: "false"}[tt.valid]; err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%s: got %s, %v, want %s", name, b, err, want)
		}
	}
}
