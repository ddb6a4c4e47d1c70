package criteria_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
)

const megabyte = 1 << 20

// large gives outputs that are costly for one kind of rule or another.
func large() map[string]string {
	var keys strings.Builder
	keys.WriteString("{")
	for i := 0; keys.Len() < megabyte; i++ {
		fmt.Fprintf(&keys, `"k%d":1,`, i)
	}
	return map[string]string{
		"one letter":     strings.Repeat("a", megabyte),
		"lines":          strings.Repeat("x\n", megabyte/2),
		"emoji":          strings.Repeat("😀", megabyte/4),
		"invalid UTF-8":  strings.Repeat("\xff\xc3", megabyte/2),
		"open brackets":  strings.Repeat("[", megabyte),
		"nested arrays":  strings.Repeat("[", megabyte/2) + strings.Repeat("]", megabyte/2),
		"many items":     "[" + strings.Repeat("1,", megabyte/2) + "1]",
		"few bad items":  "[" + strings.Repeat(`"x",`, 40_000) + "1]",
		"many keys":      keys.String() + `"z":0}`,
		"a long key":     `{"` + strings.Repeat("k", megabyte) + `":{"k":1}}`,
		"a long number":  strings.Repeat("9", megabyte),
		"a long string":  `"` + strings.Repeat("aA", megabyte/2) + `"`,
		"quoted nesting": `"` + strings.Repeat(`[`, megabyte) + `"`,
	}
}

// Outputs of a megabyte are judged, or said to be too much: no rule panics, and none passes for want of time.
func TestLargeOutputs(t *testing.T) {
	outputs := large()
	for _, rule := range []string{
		`{"type":"contains","value":"Rollback plan","message":"m"}`,
		`{"type":"regex","pattern":"^Rollback$","flags":"m","message":"m"}`,
		`{"type":"regex","pattern":"(a|b)*$c","message":"m"}`,
		`{"type":"length","max":1000,"message":"m"}`,
		`{"type":"schema","message":"m","schema":{"type":"array","items":{"type":"object","required":["a"]},"minItems":1}}`,
		`{"type":"schema","message":"m","schema":{"type":"array","uniqueItems":true,"items":{"anyOf":[{"type":"null"},{"required":["a"],"type":"object"}]},"minItems":1}}`,
		`{"type":"schema","message":"m","schema":{"type":"object","additionalProperties":false,"patternProperties":{"kk":{"type":"string"}},"required":["z1"]}}`,
		`{"type":"schema","message":"m","schema":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","propertyNames":{"pattern":"^[a-j]$"},"unevaluatedProperties":false}}`,
	} {
		c := parse(t, rule)
		for name, output := range outputs {
			if strings.Contains(rule, "(a|b)") && name != "one letter" {
				continue // it takes its whole time on any of them
			}
			got := c.Check(t.Context(), output, nil, criteria.Options{})
			if got.Valid() || len(got.Issues()) != 1 || len(got.Suggestions) == 0 || len(got.Suggestions) > 21 {
				t.Errorf("%s on %s: got valid %v, %d issues, %d suggestions", rule, name, got.Valid(), len(got.Issues()), len(got.Suggestions))
			}
			if size := len(strings.Join(got.Suggestions, "")); size > 20_000 {
				t.Errorf("%s on %s: suggestions of %d bytes", rule, name, size)
			}
		}
	}
}

// The nearest text is looked for only for as many rules as get a suggestion, so that help never takes the time of
// judgement.
func TestManyRules(t *testing.T) {
	var rules []any
	for i := range 100 {
		rules = append(rules, map[string]any{"type": "contains", "value": fmt.Sprintf("Rollback plan %d", i), "message": "m"})
	}
	c, err := criteria.Parse(rules)
	if err != nil {
		t.Fatal(err)
	}
	got := c.Check(t.Context(), "The Rollback\nplan x.", nil, criteria.Options{})
	for i, n := range got.Explain.Children {
		if near := n.Where != ""; near != (i < 20) {
			t.Errorf("rule %d: got %q at %q", i, n.Got, n.Where)
		}
	}
}

// As many suggestions as there may be are all of them. Each rule has one, and all together have one more.
func TestSuggestionsThatJustFit(t *testing.T) {
	for _, n := range []int{19, 20} {
		var rules []any
		for i := range n {
			rules = append(rules, map[string]any{"type": "contains", "value": fmt.Sprintf("word%d", i), "message": "m"})
		}
		c, err := criteria.Parse(rules)
		if err != nil {
			t.Fatal(err)
		}
		got := c.Check(t.Context(), "x", nil, criteria.Options{}).Suggestions
		if more := strings.HasSuffix(got[len(got)-1], "left out here: 1 more."); len(got) != n+1 || more != (n == 20) {
			t.Errorf("%d rules: got %d suggestions, the last %q", n, len(got), got[len(got)-1])
		}
	}
}

func TestDeepContext(t *testing.T) {
	c, err := criteria.ParseCondition(decode(t, `{"or":[{"var":"a","equals":[[["x"]]]},{"var":"a","contains":"q"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	context := object(t, `{"a":`+strings.Repeat("[", 9_000)+strings.Repeat("]", 9_000)+`}`)
	for _, mode := range []criteria.Mode{criteria.Strict, criteria.Lenient} {
		if eval(t, c, context, mode) {
			t.Errorf("mode %d: got true", mode)
		}
	}
}
