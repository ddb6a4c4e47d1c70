package main

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"
)

// What is drawn is XML, has a line for each step, and shows what is flat as flat.
func TestPlot(t *testing.T) {
	var table report
	some := []dimension{{name: "servers", ns: []int{1, 100, 10_000}}, {name: "tools", ns: []int{10, 1000}}}
	for _, n := range some[0].ns {
		table.row(growthWhat(some[0], n, "call"), nameFront).add(p50, 1000)
		table.row(growthWhat(some[0], n, "open"), nameFront).add(p50, 100*float64(n))
	}
	var b strings.Builder
	if err := plot(&b, &table, some); err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(strings.NewReader(b.String())); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%v in %s", err, b.String())
		}
	}
	for _, want := range []string{`points="60,197 210,197 360,197"`, `points="60,233 210,160 360,87"`, "MB resident, with more tools"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("got %s, want %s in it", b.String(), want)
		}
	}
	if got := strings.Count(b.String(), "<polyline"); got != 2*(len(steps())+1) {
		t.Errorf("got %d lines", got)
	}
}
