package criteria_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
)

// shared gives a path in the folder of recordings and real files that lies beside the repository, and skips the test
// where there is none.
func shared(t *testing.T, path string) string {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "shared")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("the folder with the recordings is absent: %v", err)
	}
	return filepath.Join(dir, path)
}

// difference is where a verdict differs from the recorded one on purpose.
type difference struct {
	reason  string
	applies func(r recorded) bool
	// want gives the verdict wanted instead; nil when the recording, with suggestions added, is still wanted.
	want func(t *testing.T, c *criteria.Criteria, r recorded, got criteria.Verdict)
}

func differences() []difference {
	return []difference{
		{
			reason: "a pattern that starts with (?i) is rejected by JavaScript with -32004, which made every validation of " +
				"these steps an error; here it means the flag i",
			applies: func(r recorded) bool {
				return r.Result.Error != nil && strings.Contains(r.Result.Error.Message, ": (?i)")
			},
			want: wantByHand,
		},
		{
			reason: "suggestions say what to do after the constant sentence, which stands first",
			applies: func(r recorded) bool {
				return len(r.Result.Issues) > 0 && slices.Equal(r.Result.Suggestions, []string{adviceAny})
			},
		},
	}
}

// recorded is one validation of the recording: the step, what was sent and what came back.
type recorded struct {
	File, Step string
	Output     *string // absent for the one long output
	OutputLen  int
	Result     struct {
		Valid               bool
		Issues, Suggestions []string
		Error               *struct{ Message string }
	}
}

func (r recorded) text() string {
	if r.Output != nil {
		return *r.Output
	}
	// The recording keeps only the length of its long output. No rule finds anything in it but its length.
	return strings.Repeat("lorem ipsum ", r.OutputLen/12+1)[:r.OutputLen]
}

func TestGolden(t *testing.T) {
	data, err := os.ReadFile(shared(t, "golden/v004-service.json"))
	if err != nil {
		t.Fatal(err)
	}
	var golden struct{ Validate []recorded }
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	if len(golden.Validate) == 0 {
		t.Fatal("the recording holds no validation")
	}
	used := make([]int, len(differences()))
	for _, r := range golden.Validate {
		c, err := criteria.Parse(criteriaOf(t, r.File, r.Step))
		if err != nil {
			t.Errorf("%s %s: %v", r.File, r.Step, err)
			continue
		}
		got := unhurried(t, c, r.text())
		i := slices.IndexFunc(differences(), func(d difference) bool { return d.applies(r) })
		suggestions := got.Suggestions
		if i >= 0 {
			used[i]++
			if want := differences()[i].want; want != nil {
				want(t, c, r, got)
				continue
			}
			suggestions = suggestions[:1]
		}
		if got.Valid() != r.Result.Valid || !slices.Equal(got.Issues(), r.Result.Issues) || !slices.Equal(suggestions, r.Result.Suggestions) {
			t.Errorf("%s %s, output of %d: got %+v, want %+v", r.File, r.Step, r.OutputLen, got, r.Result)
		}
	}
	for i, d := range differences() {
		if used[i] == 0 {
			t.Errorf("a difference that does not occur: %s", d.reason)
		}
	}
}

// wantByHand holds a verdict against plain text search: the rules it is for look for headings, and none of the recorded
// outputs has any.
func wantByHand(t *testing.T, c *criteria.Criteria, r recorded, got criteria.Verdict) {
	t.Helper()
	if got.Valid() || len(got.Issues()) == 0 {
		t.Errorf("%s %s: got %+v, want issues", r.File, r.Step, got)
	}
	headings := "## Title: ## Description: ## Acceptance Criteria: - [ ] works ## Project Summary ## Key Deliverables ## In-Scope " +
		"## Out-of-Scope ## Success Criteria ## High-Level Timeline ## Ticket 1 Story Points: 3 Priority: high ## Audience Demographics " +
		"## Audience Motivations ## Core Message ## Supporting Arguments ## Call-to-Action slide 1 opening closing ## Visual Theme " +
		"## Engagement Techniques ## Slide Content ## Speaker Notes ## Run-Through Schedule ## Q&A Preparation ## Technical Setup " +
		"## Follow-up Planning "
	full := strings.ToUpper(headings) + strings.Repeat("and so on ", 100)
	for _, issue := range unhurried(t, c, full).Issues() {
		t.Errorf("%s %s: an output with every heading: %s", r.File, r.Step, issue)
	}
}

// unhurried judges an output, and again where a loaded machine did not let a match end in its time.
func unhurried(t *testing.T, c *criteria.Criteria, output string) (v criteria.Verdict) {
	t.Helper()
	for range 100 {
		v = c.Check(t.Context(), output, nil, criteria.Options{})
		if said := strings.Join(v.Issues(), "\n"); !strings.Contains(said, "was given up)") && !strings.Contains(said, "are spent)") {
			break
		}
	}
	return v
}

// criteriaOf reads the criteria of a step from a real file.
func criteriaOf(t *testing.T, file, step string) any {
	t.Helper()
	data, err := os.ReadFile(shared(t, filepath.Join("workflows", "v004", file)))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range decode(t, string(data)).(map[string]any)["steps"].([]any) {
		if s := s.(map[string]any); s["id"] == step {
			return s["validationCriteria"]
		}
	}
	t.Fatalf("%s has no step %s", file, step)
	return nil
}

// Every condition and all criteria of the real files parse, and nothing in them is ignored.
func TestRealFiles(t *testing.T) {
	count := map[string]int{}
	err := filepath.WalkDir(shared(t, "workflows"), func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.Contains(path, string(filepath.Separator)+"workflows"+string(filepath.Separator)) ||
			filepath.Ext(path) != ".json" || strings.Contains(path, "schema") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		walk(decode(t, string(data)), func(key string, v any) {
			switch key {
			case "runCondition", "condition":
				c, err := criteria.ParseCondition(v)
				if err != nil || c.Ignored() != nil {
					t.Errorf("%s: %s: error %v, ignored %q", path, key, err, c.Ignored())
				}
				count[key]++
			case "validationCriteria":
				if _, err := criteria.Parse(v); err != nil {
					t.Errorf("%s: %v", path, err)
				}
				count[key]++
			}
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if count["runCondition"] < 100 || count["validationCriteria"] < 50 {
		t.Errorf("found only %v", count)
	}
}

// walk calls f for every member of every object in v.
func walk(v any, f func(key string, v any)) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			walk(item, f)
		}
	case map[string]any:
		for k, item := range v {
			f(k, item)
			walk(item, f)
		}
	}
}

// The examples of the API description.
func TestAPIExamples(t *testing.T) {
	implementation := parse(t, `[
		{"type":"contains","value":"advanced","condition":{"var":"userExpertise","equals":"expert"},"message":"Expert implementation should use advanced patterns"},
		{"type":"contains","value":"optimization","condition":{"var":"complexity","gte":0.8},"message":"Complex tasks require optimization considerations"},
		{"type":"contains","value":"tutorial","condition":{"var":"userExpertise","equals":"novice"},"message":"Explain it"}]`)
	got := implementation.Check(t.Context(), "Implemented basic feature functionality with standard patterns.",
		object(t, `{"userExpertise":"expert","complexity":0.9,"taskScope":"large"}`), criteria.Options{})
	want := []string{"Expert implementation should use advanced patterns", "Complex tasks require optimization considerations"}
	if got.Valid() || !reflect.DeepEqual(got.Issues(), want) || got.Warnings != nil {
		t.Errorf("got %+v, want the issues %q", got, want)
	}
	_, err := criteria.Parse(decode(t, `{"type":"schema","schema":{"type":"endpoint"},"message":"m"}`))
	var schema *criteria.SchemaError
	if !errors.As(err, &schema) {
		t.Errorf("a malformed schema: got %v, want a SchemaError", err)
	}
}
