package conformance

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
)

// revision is one that the suite knows, with the number of scenarios that it requires.
type revision struct {
	name     string
	required int
	listed   bool // the suite has a list of what is required; of the others, all that applies counts
}

// args select the scenarios of a revision.
func (r revision) args() []string {
	if r.listed {
		return []string{"--requirements", r.name}
	}
	return []string{"--suite", "all", "--spec-version", r.name}
}

// scores is the table of what passed. It may be filled by several goroutines.
type scores struct {
	mu    sync.Mutex
	lines []string
}

// judge takes the results of one run. It fails the test unless as many required scenarios passed as the revision has,
// and for every check, required or not, that failed or warned. Nothing is expected to fail.
func (s *scores) judge(tb testing.TB, bed string, r revision, required []string, ran []scenario) {
	tb.Helper()
	passed, others, othersPassed := 0, 0, 0
	for _, sc := range ran {
		counts := !r.listed || slices.Contains(required, sc.Name)
		if len(sc.Problems) > 0 {
			tb.Errorf("%s %s: %d checks passed, but\n\t%s", r.name, sc.Name, sc.Passed, strings.Join(sc.Problems, "\n\t"))
		}
		switch {
		case counts && sc.ok():
			passed++
		case !counts && sc.ok():
			othersPassed++
		}
		if !counts {
			others++
		}
	}
	if passed != r.required {
		tb.Errorf("%s: got %d required scenarios that passed, want %d", r.name, passed, r.required)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, fmt.Sprintf("%s\t%s\t%d of %d required\t%d of %d others", bed, r.name, passed, r.required, othersPassed, others))
}

// String is the table, in an order that does not depend on which run ended first.
func (s *scores) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.lines)
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, strings.Join(s.lines, "\n")) // a builder takes all
	_ = w.Flush()
	return b.String()
}
