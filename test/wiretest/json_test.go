package wiretest_test

import (
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

func TestDiff(t *testing.T) {
	tests := []struct{ name, got, want, diff string }{
		{"same", `{"a":[1,"x",null,true]}`, `{"a":[1,"x",null,true]}`, ""},
		{"order of members and white space", `{"a":1,"b":2}`, "{ \"b\":2,\n\"a\":1 }", ""},
		{"escapes", `"\u0041"`, `"A"`, ""},
		{"text of a number", `{"n":1.0}`, `{"n":1}`, "$.n: got 1.0 want 1"},
		{"last digit of a long number", `123456789012345678901234`, `123456789012345678901235`, "$: got"},
		{"deep", `{"a":[{"b":1}]}`, `{"a":[{"b":2}]}`, "$.a[0].b: got 1 want 2"},
		{"missing", `{}`, `{"a":1}`, "$.a: got nothing want 1"},
		{"more", `{"a":1}`, `{}`, "$.a: got 1 want nothing"},
		{"null is not nothing", `{"a":null}`, `{}`, "$.a: got null want nothing"},
		{"length", `[1,2]`, `[1]`, "$: got 2 elements want 1"},
		{"order of elements", `[1,2]`, `[2,1]`, "$[0]: got 1 want 2"},
		{"type", `"1"`, `1`, `$: got "1" want 1`},
		{"object for scalar", `{}`, `1`, "$: got {} want 1"},
		{"array for object", `[]`, `{}`, "$: got [] want {}"},
		{"broken", `{`, `{}`, "got is no JSON"},
		{"broken want", `{}`, `{} {}`, "want is no JSON"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := wiretest.Diff([]byte(test.got), []byte(test.want))
			if test.diff == "" && got != "" || !strings.HasPrefix(got, test.diff) {
				t.Errorf("got %q want %q", got, test.diff)
			}
			failed := failures(t, func(tb testing.TB) { wiretest.Same(tb, "it", []byte(test.got), []byte(test.want)) })
			if (failed == "") != (test.diff == "") {
				t.Errorf("Same: got failures %q for difference %q", failed, got)
			}
		})
	}
}

func TestSameBytes(t *testing.T) {
	if got := failures(t, func(tb testing.TB) { wiretest.SameBytes(tb, "it", []byte(`{"a":1}`), []byte(`{"a":1}`)) }); got != "" {
		t.Errorf("got failures %q for equal bytes", got)
	}
	got := failures(t, func(tb testing.TB) { wiretest.SameBytes(tb, "it", []byte(`{"a":1}`), []byte(`{"a": 1}`)) })
	if !strings.Contains(got, "it: differ at byte 5") {
		t.Errorf("got failures %q want the place", got)
	}
}
