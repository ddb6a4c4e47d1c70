package main

import (
	"strings"
	"testing"
)

// The knots of a package that is made for it are counted: a and b need each other, c needs a alone.
func TestKnots(t *testing.T) {
	var out strings.Builder
	if err := run(&out, []string{"./testdata/house"}, true, true); err != nil {
		t.Fatal(err)
	}
	want := []string{"test/knots/testdata/house", "3", "3", "2", "67", "%"}
	var got []string
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(line, want[0]+" ") {
			got = strings.Fields(line)
		}
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("got %q, want %q in:\n%s", got, want, &out)
	}
	if want := "house.crowded has 13 fields below one mutex"; !strings.Contains(out.String(), want) {
		t.Errorf("got %s, want %q", &out, want)
	}
	if want := "test/knots/testdata/house/a.go -> b.go: "; !strings.Contains(out.String(), want) {
		t.Errorf("got %s, want %q", &out, want)
	}
}
