package main

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestQuantile(t *testing.T) {
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(i + 1)
	}
	for _, test := range []struct {
		name   string
		values []time.Duration
		q      float64
		want   time.Duration
	}{
		{"one value", hundred[:1], 0.99, 1},
		{"the middle of three", hundred[:3], 0.5, 2},
		{"the lower middle of four", hundred[:4], 0.5, 2},
		{"half of a hundred", hundred, 0.5, 50},
		{"all but one of a hundred", hundred, 0.99, 99},
		{"the largest of few", hundred[:20], 0.99, 20},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := quantile(test.values, test.q); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		name   string
		values []float64
		want   float64
	}{
		{"one", []float64{7}, 7},
		{"odd", []float64{9, 1, 2}, 2},
		{"even", []float64{9, 1, 2, 4}, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := median(test.values); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
	if got := median(nil); !math.IsNaN(got) {
		t.Errorf("got %v of nothing, want NaN", got)
	}
}

func TestPrint(t *testing.T) {
	var table report
	r := table.row("200 B", directFront)
	r.addTimes([]time.Duration{3 * time.Microsecond, 1 * time.Microsecond, 2 * time.Microsecond})
	r.add(rate, 123456.7)
	table.row("200 B", nameFront).add(allocs, 5)
	table.row(idleWhat, nameFront).add(memory, 12.34)
	if again := table.row("200 B", directFront); again != r {
		t.Error("got a second row of the same name, want the first")
	}
	var out strings.Builder
	if err := table.print(&out); err != nil {
		t.Fatal(err)
	}
	want := `what   front      p50 µs  p99 µs  calls/s @64  CPU µs/call  allocs/call  RSS MB  tokens
200 B  direct       2.00    3.00       123457            –            –       –       –
       workbench       –       –            –            –         5.00       –       –
idle   workbench       –       –            –            –            –    12.3       –
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestGoals(t *testing.T) {
	table := func() *report {
		var t report
		for front, figures := range map[string][]float64{
			relayFront: {10, 100, 10}, // a disturbed round disturbs both
			nameFront:  {15, 130, 12},
			useFront:   {25, 180, 30},
			typedFront: {60, 70},
		} {
			t.row("200 B", front).figures[p50] = figures
		}
		t.row("200 B", httpFront).figures[rate] = []float64{19_000, 21_000, 25_000}
		t.row(everythingWhat, directFront).figures[p50] = []float64{100, 200}
		t.row(everythingWhat, useFront).figures[p50] = []float64{150, 230}
		return &t
	}()
	for _, test := range []struct {
		name     string
		goal     goal
		want     float64
		measured bool
		met      bool
		text     string
	}{
		{"a ratio is of the rounds", goal{what: "200 B", front: nameFront, against: relayFront, limit: 1.3}, 1.3, true, true, "200 B, workbench: p50 µs ≤ 1.3 × relay"},
		{"a ratio over the limit", goal{what: "200 B", front: useFront, against: relayFront, limit: 1.6}, 2.5, true, false, "200 B, workbench use_tool: p50 µs ≤ 1.6 × relay"},
		{"a difference", goal{what: everythingWhat, front: useFront, against: directFront, less: true, limit: 60}, 40, true, true, everythingWhat + ", workbench use_tool: p50 µs over direct ≤ 60"},
		{"at least", goal{what: "200 B", front: httpFront, column: rate, least: true, limit: 20_000}, 21_000, true, true, "200 B, workbench HTTP: calls/s @64 ≥ 20000"},
		{"not so many", goal{what: "200 B", front: httpFront, column: rate, least: true, limit: 22_000}, 21_000, true, false, ""},
		{"not measured", goal{what: idleWhat, front: nameFront, column: memory, limit: 25}, 0, false, false, ""},
		{"a column not measured", goal{what: "200 B", front: nameFront, column: allocs, limit: 8}, 0, false, false, ""},
		{"against nothing", goal{what: everythingWhat, front: useFront, against: relayFront, limit: 1}, 0, false, false, ""},
		{"rounds that do not match", goal{what: "200 B", front: nameFront, against: typedFront, limit: 0.5}, 0, false, false, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, ok := test.goal.measured(table)
			if math.Abs(got-test.want) > 1e-9 || ok != test.measured {
				t.Errorf("got %v, %v, want %v, %v", got, ok, test.want, test.measured)
			}
			if ok && test.goal.met(got) != test.met {
				t.Errorf("got met %v, want %v", !test.met, test.met)
			}
			if test.text != "" && test.goal.text() != test.text {
				t.Errorf("got %q, want %q", test.goal.text(), test.text)
			}
		})
	}

	var out strings.Builder
	if err := printGoals(&out, table); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"goal", "200 B, workbench: p50 µs ≤ 1.6 × relay", "1.30", "missed", "met"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got\n%s\nwant %q in it", out.String(), want)
		}
	}
	if strings.Contains(out.String(), idleWhat) {
		t.Errorf("got\n%s\nwant no goal of what was not measured", out.String())
	}
}
