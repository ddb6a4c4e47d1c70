package setup

import (
	"slices"
	"strings"
	"testing"
)

// Of a file that a client keeps in one line, what else stands in it is not shown.
func TestChangedLines(t *testing.T) {
	long := strings.Repeat("x", 200)
	for _, test := range []struct {
		name, old, changed string
		want               []string
	}{
		{"short lines", "a\nb\nc\n", "a\nB\nc\n", []string{"-b", "+B"}},
		{"a new line", "a\n", "a\n" + long + "\n", []string{"+" + long}},
		{"one long line", `{"first":"` + long + `","s":{},"more":"` + long + `"}`, `{"first":"` + long + `","s":{"w":1},"more":"` + long + `"}`,
			[]string{`-…` + strings.Repeat("x", 17) + `","s":{` + `},"more":"` + strings.Repeat("x", 14) + "…", `+…` + strings.Repeat("x", 17) + `","s":{"w":1},"more":"` + strings.Repeat("x", 14) + "…"}},
		{"secrets, old and new", "a:\n  token: canary\n", "a:\n  env: {A: canary2}\n", []string{`-  token: "•••"`, `+  env: {A: "•••"`}},
		{"only a secret", "a: b\ntoken: canary\n", "a: b\ntoken: canary2\n", []string{`-token: "•••"`, `+token: "•••"`}},
		{"a long line that goes", "a\n" + long + "\n", "a\n", []string{"-" + long}},
	} {
		if got := changedLines("f.yaml", []byte(test.old), []byte(test.changed)); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}
