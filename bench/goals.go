package main

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/mcp-workbench/workbench/internal/calls"
)

// goal is what one figure of a front is to be: at most the limit, or at least.
type goal struct {
	what, front string
	column      column
	against     string // the front it is compared with; "" for the figure itself
	less        bool   // compared by difference, not by ratio
	least       bool
	limit       float64
}

// goals are those of the project.
func goals() []goal {
	return []goal{
		{what: "200 B", front: nameFront, against: relayFront, limit: 1.6},
		{what: "200 B", front: useFront, against: relayFront, limit: 1.6},
		{what: "200 B", front: nameFront, against: typedFront, limit: 0.5},
		{what: "200 B", front: useFront, against: typedFront, limit: 0.5},
		{what: "100 KB", front: nameFront, against: relayFront, limit: 1.5},
		{what: "100 KB", front: useFront, against: relayFront, limit: 1.5},
		{what: "1 MB", front: nameFront, against: relayFront, limit: 1.5},
		{what: "1 MB", front: useFront, against: relayFront, limit: 1.5},
		{what: "200 B", front: nameFront, column: allocs, limit: 4},
		{what: "200 B", front: useFront, column: allocs, limit: 4},
		{what: recordWhat("200 B"), front: recordFront(calls.Meta), against: recordFront(calls.Off), limit: 1.03},
		{what: recordWhat("200 B"), front: recordFront(calls.Meta), column: allocs, against: recordFront(calls.Off), less: true, limit: 1},
		{what: "200 B", front: httpFront, column: rate, least: true, limit: 25_000},
		{what: throughWhat, front: httpFront, column: rate, against: nginxFront, least: true, limit: 0.6},
		{what: "100 KB", front: httpFront, column: rate, against: typedHTTPFront, least: true, limit: 10},
		{what: listWhat, front: nameFront, limit: 1000},
		{what: listWhat, front: markedFront, limit: 1000},
		{what: findWhat, front: nameFront, limit: 1000},
		{what: firstFindWhat, front: nameFront, limit: 60_000},
		{what: findWhat, front: nameFront, column: memory, against: unsearched, less: true, limit: 10},
		{what: pageWhat, front: linesFront, limit: 20_000},
		{what: pageWhat, front: linesFront, column: tokens, limit: 2000},
		{what: pageWhat, front: grepFront, limit: 20_000},
		{what: pageWhat, front: grepFront, column: tokens, limit: 2000},
		{what: pageWhat, front: pathFront, limit: 20_000},
		{what: pageWhat, front: pathFront, column: tokens, limit: 2000},
		{what: everythingWhat, front: useFront, against: relayFront, limit: 1.6},
		{what: startWhat, front: nameFront, column: p99, limit: 20_000},
		{what: startWhat, front: nameFront, column: p99, against: trivialFront, limit: 1.5},
		{what: startWhat, front: workflowFront, column: p99, limit: 25_000},
		{what: checkWhat, front: nameFront, limit: 50_000},
		{what: pinsWhat, front: holdFront, against: nameFront, limit: 1.05},
		{what: openedWhat, front: sandboxFront, against: nameFront, less: true, limit: 5000},
		{what: idleWhat, front: nameFront, column: memory, limit: 16},
		{what: openWhat, front: nameFront, column: memory, limit: 24},
		{what: openWhat, front: guardProcess, column: memory, limit: 4},
		{what: idleWhat, front: workflowFront, column: memory, limit: 16},
		{what: activeWhat(1000), front: httpFront, column: memory, limit: 150},
		{what: restingWhat(10_000), front: httpFront, column: memory, limit: 400},
		{what: turnWhat, front: sqliteName, column: p99, limit: 10_000},
		{what: listedWhat(100_000), front: sqliteName, column: p99, limit: 50_000},
		{what: nextWhat, front: memoryName, column: p99, limit: 500},
		{what: nextWhat, front: sqliteName, column: p99, limit: 10_000},
	}
}

// measured returns the figure that a goal is about. Figures of two fronts are compared round by round, since what
// disturbs a round disturbs both.
func (g goal) measured(t *report) (float64, bool) {
	r := t.find(g.what, g.front)
	if r == nil || len(r.figures[g.column]) == 0 {
		return 0, false
	}
	figures := r.figures[g.column]
	if g.against == "" {
		return median(figures), true
	}
	other := t.find(g.what, g.against)
	if other == nil || len(other.figures[g.column]) != len(figures) {
		return 0, false
	}
	compared := make([]float64, len(figures))
	for i, v := range figures {
		if g.less {
			compared[i] = v - other.figures[g.column][i]
		} else {
			compared[i] = v / other.figures[g.column][i]
		}
	}
	return median(compared), true
}

func (g goal) met(v float64) bool {
	if g.least {
		return v >= g.limit
	}
	return v <= g.limit
}

// text says what is to be.
func (g goal) text() string {
	bound := "≤"
	if g.least {
		bound = "≥"
	}
	limit := fmt.Sprintf("%g", g.limit)
	switch {
	case g.less:
		return fmt.Sprintf("%s, %s: %s over %s %s %s", g.what, g.front, headings()[g.column], g.against, bound, limit)
	case g.against != "":
		return fmt.Sprintf("%s, %s: %s %s %s × %s", g.what, g.front, headings()[g.column], bound, limit, g.against)
	}
	return fmt.Sprintf("%s, %s: %s %s %s", g.what, g.front, headings()[g.column], bound, limit)
}

// printGoals writes the goals whose figures were measured, and how they were met.
func printGoals(w io.Writer, t *report) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	head := "goal\tmeasured\t\n"
	for _, g := range goals() {
		v, ok := g.measured(t)
		if !ok || math.IsNaN(v) {
			continue
		}
		verdict := "missed"
		if g.met(v) {
			verdict = "met"
		}
		fmt.Fprintf(tw, "%s%s\t%s\t%s\n", head, g.text(), figure(v), verdict)
		head = ""
	}
	return tw.Flush()
}
