package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// column is one of the figures of a row.
type column int

const (
	p50    column = iota // of one call at a time, µs
	p99                  // the same
	rate                 // calls/s with crowdWidth under way
	cpu                  // of the front's process, µs a call, in the crowd
	allocs               // of the front, a call
	memory               // resident, of the front's process, MB
	tokens               // of the text of an answer
	columns
)

// headings are those of the columns.
func headings() [columns]string {
	return [...]string{"p50 µs", "p99 µs", fmt.Sprintf("calls/s @%d", crowdWidth), "CPU µs/call", "allocs/call", "RSS MB", "tokens"}
}

// row is what was measured of one front in one respect: for each column one figure a round.
type row struct {
	what, front string
	figures     [columns][]float64
}

func (r *row) add(c column, v float64) { r.figures[c] = append(r.figures[c], v) }

// addTimes adds what a series of calls took.
func (r *row) addTimes(took []time.Duration) {
	slices.Sort(took)
	r.add(p50, micros(quantile(took, 0.50)))
	r.add(p99, micros(quantile(took, 0.99)))
}

// quantile of sorted values: the smallest that the share q of them does not exceed.
func quantile(sorted []time.Duration, q float64) time.Duration {
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}

func micros(d time.Duration) float64 { return float64(d) / 1e3 }

// median returns NaN of nothing.
func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// report is the table, in the order in which its rows were begun.
type report struct{ rows []*row }

// row returns the row of a front, which it makes if there is none.
func (t *report) row(what, front string) *row {
	if r := t.find(what, front); r != nil {
		return r
	}
	r := &row{what: what, front: front}
	t.rows = append(t.rows, r)
	return r
}

func (t *report) find(what, front string) *row {
	i := slices.IndexFunc(t.rows, func(r *row) bool { return r.what == what && r.front == front })
	if i < 0 {
		return nil
	}
	return t.rows[i]
}

// print writes the table, each figure the median of its rounds.
func (t *report) print(w io.Writer) error {
	heads := headings()
	lines := [][]string{append([]string{"what", "front"}, heads[:]...)}
	last := ""
	for _, r := range t.rows {
		what := r.what
		if what == last {
			what = ""
		}
		last = r.what
		line := []string{what, r.front}
		for c := range columns {
			line = append(line, figure(median(r.figures[c])))
		}
		lines = append(lines, line)
	}
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, text := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(text))
		}
	}
	var b strings.Builder
	for _, line := range lines {
		fmt.Fprintf(&b, "%-*s  %-*s", widths[0], line[0], widths[1], line[1])
		for i, text := range line[2:] {
			fmt.Fprintf(&b, "  %*s", widths[i+2], text)
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// figure writes a number to three digits or to the unit.
func figure(v float64) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	case v < 100:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.0f", v)
	}
}
