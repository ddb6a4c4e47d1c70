//go:build linux

package chaos

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"
)

// table is what was found, beside what it is to be.
type table struct {
	mu   sync.Mutex
	rows [][3]string
}

// show notes a figure that may be other on another machine.
func (tab *table) show(what, goal, figure string) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	tab.rows = append(tab.rows, [3]string{what, goal, figure})
}

// must notes a number that has to be what it is to be everywhere, and fails the test if it is not.
func (tab *table) must(t *testing.T, what string, got, want int) {
	t.Helper()
	tab.show(what, fmt.Sprint(want), fmt.Sprint(got))
	if got != want {
		t.Errorf("%s: got %d, want %d", what, got, want)
	}
}

// mustNotExceed is must for a number that may be less.
func (tab *table) mustNotExceed(t *testing.T, what string, got, most int) {
	t.Helper()
	tab.show(what, fmt.Sprintf("at most %d", most), fmt.Sprint(got))
	if got > most {
		t.Errorf("%s: got %d, want at most %d", what, got, most)
	}
}

// String gives the table in columns.
func (tab *table) String() string {
	var text strings.Builder
	columns := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, "\twanted\tgot")
	for _, row := range tab.rows {
		fmt.Fprintf(columns, "%s\t%s\t%s\n", row[0], row[1], row[2])
	}
	_ = columns.Flush()
	return text.String()
}

// took is how long something takes.
func took(something func()) time.Duration {
	began := time.Now()
	something()
	return time.Since(began)
}

// durations are measured times.
type durations []time.Duration

// percentile is the smallest that so many hundredths do not exceed.
func (d durations) percentile(hundredths int) time.Duration {
	if len(d) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(d))
	return sorted[min(len(sorted)-1, len(sorted)*hundredths/100)]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }

func mib(n int) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
