package criteria_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
)

func parseRegex(pattern, flags string) (*criteria.Criteria, error) {
	return criteria.Parse(map[string]any{"type": "regex", "pattern": pattern, "flags": flags, "message": "no match"})
}

// The wants were taken from a JavaScript engine, except where a comment names a difference.
func TestPattern(t *testing.T) {
	for _, tt := range []struct {
		pattern, flags, text string
		want                 bool
	}{
		{`a.c`, ``, "a\nc", false},
		{`a.c`, ``, "a\rc", false},
		{`x.b`, ``, "x\u2028b", false},
		{`a.c`, `s`, "a\nc", true},
		{`^b`, ``, "a\nb", false},
		{`^b`, `m`, "a\nb", true},
		{`^b`, `m`, "a\rb", true},
		{`a$`, ``, "a\n", false},
		{`a$`, `m`, "a\r\n", true},
		{`a\s+x`, ``, "a\u00a0\ufeff x", true},
		{`\S`, ``, "\u2003\u00a0", false},
		{`\w`, ``, "é", false},
		{`\bfoo\b`, `i`, "a FOO.", true},
		{`\bno\b`, ``, "éno", true},
		{`\Bno`, ``, "éno", false},
		{`\Bno`, ``, "uno", true},
		{`^\px$`, ``, "px", true},
		{`[\p]`, ``, "p", true},
		{`[^]`, ``, "\n", true},
		{`[]`, ``, "a", false},
		{`[]a`, ``, "a", false},
		{`\Aab`, ``, "ab", false},
		{`\Aab`, ``, "Aab", true},
		{`ab\z`, ``, "abz", true},
		{`[a-z-[b]]`, ``, "[]", true},
		{`[[:alpha:]]`, ``, ":]", true},
		{`[\w-z]+$`, ``, "-", true},
		{`[a-\d]`, ``, "-", true},
		{`[\b]`, ``, "\b", true},
		{`(?<n>a)\k<n>`, ``, "aa", true},
		{`(a)?b\1c`, ``, "bc", true},
		{`(?<=a)b`, ``, "ab", true},
		{`(?<!a)b`, ``, "ab", false},
		{`(?!.*WIP)`, ``, "WIP", true}, // not anchored: it holds after the text
		{`^(?!.*WIP)`, ``, "WIP", false},
		{`a{,2}`, ``, "a{,2}", true},
		{`\u0041`, ``, "A", true},
		{`\u{1F600}`, ``, "😀", true}, // JavaScript wants the flag u for this
		{`\ud83d\ude00`, ``, "😀", true},
		{`^.$`, ``, "😀", true}, // JavaScript wants the flag u for this
		{`\x41\cJ`, ``, "A\n", true},
		{`\xg`, ``, "xg", true},
		{`\c`, ``, `\c`, true},
		{`\e\-\/`, ``, "e-/", true},
		{`\p{Lu}`, `u`, "É", true},
		{`É`, `i`, "é", true},
		{`oo`, `y`, "foo", false},
		{`fo`, `y`, "foo", true},
		{`foo`, `dg`, "foo", true},
		{`(?i)##?\s*Title:?`, ``, "# TITLE", true}, // JavaScript rejects inline flags
		{`(?i)(?s)a.b`, ``, "A\nB", true},
		{`(?im)^b`, ``, "a\nB", true},
		{`(?i:AB)c`, ``, "abc", true}, // newer than most engines
		{`(?i:AB)c`, ``, "abC", false},
		{`(?-i:ab)c`, `i`, "abC", true},
		{`(?-i:ab)c`, `i`, "ABC", false},
		{`(?s:a.)b.c`, ``, "a\nb\nc", false},
		{`((?m:^)b)$`, ``, "a\nb", true},
		{`\(?#`, ``, "#", true},
	} {
		t.Run(tt.pattern+"/"+tt.flags, func(t *testing.T) {
			c, err := parseRegex(tt.pattern, tt.flags)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.Check(t.Context(), tt.text, nil, criteria.Options{}).Valid(); got != tt.want {
				t.Errorf("on %q: got %v, want %v", tt.text, got, tt.want)
			}
		})
	}
}

func TestPatternErrors(t *testing.T) {
	for _, tt := range []struct{ pattern, flags, reason string }{
		{`(`, ``, "a group is not closed"},
		{`)`, ``, "a ) closes nothing"},
		{`[a`, ``, "a [ is not closed"},
		{`a\`, ``, `there is a \ at the end`},
		{`*a`, ``, "missing argument"},
		{`a{2}{3}`, ``, "nested repetition"},
		{`a(?i)b`, ``, "flags such as (?i) are allowed only at the start"},
		{`(?x)a b`, ``, "not ECMAScript"},
		{`(?>a)`, ``, "not ECMAScript"},
		{`(?#c)a`, ``, "not ECMAScript"},
		{`(?P<n>a)`, ``, "a named group is (?<name>…)"},
		{`(?<a-b>x)`, ``, "not ECMAScript"},
		{`(?(1)a|b)`, ``, "not ECMAScript"},
		{`a`, `x`, `flag 'x' is not one of`},
		{`a`, `ii`, `flag 'i' is given twice`},
		{strings.Repeat("a", 10_001), ``, "at most 10000"},
	} {
		_, err := parseRegex(tt.pattern, tt.flags)
		var shape *criteria.ShapeError
		if !errors.As(err, &shape) {
			t.Errorf("%.20s: got %v, want a ShapeError", tt.pattern, err)
			continue
		}
		if shape.Path != "/pattern" || !strings.Contains(shape.Reason, tt.reason) {
			t.Errorf("%.20s: got %q: %q, want …%s…", tt.pattern, shape.Path, shape.Reason, tt.reason)
		}
	}
}

// A pattern that would never end is given up and reported, and a "not" around it does not make it pass.
func TestPatternTimeOut(t *testing.T) {
	rule := `{"type":"regex","pattern":"^(a+)+$","message":"only a"}`
	output := strings.Repeat("a", 40) + "b"
	for _, text := range []string{rule, `{"not":` + rule + `}`, `{"or":[` + rule + `,` + rule + `]}`} {
		c, err := criteria.Parse(decode(t, text))
		if err != nil {
			t.Fatal(err)
		}
		got := c.Check(t.Context(), output, nil, criteria.Options{})
		if got.Valid() || len(got.Issues()) != 1 || !strings.Contains(got.Issues()[0], "only a (the match took longer than 250 ms and was given up)") {
			t.Errorf("%s: got %+v, want one issue that names the time-out", text, got)
		}
		if got.Explain.Outcome != criteria.Undecided {
			t.Errorf("%s: got %s, want %s", text, got.Explain.Outcome, criteria.Undecided)
		}
	}
}
