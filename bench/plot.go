package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// plot draws how times and memory grow with each dimension, as SVG. Both axes are logarithmic, so that what grows with
// n is as steep as the grey line, and what does not is flat.
func plot(w io.Writer, t *report, dimensions []dimension) error {
	const width, height, left, right, top = 300, 220, 60, 110, 50
	colours := []string{"#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad"}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="11">`+"\n",
		len(dimensions)*(left+width+right), 2*(top+height)+50)
	fmt.Fprintln(&b, `<rect width="100%" height="100%" fill="white"/>`)
	for i, d := range dimensions {
		x := left + i*(left+width+right)
		times := chart{x: x, y: top, w: width, h: height, title: "µs, with more " + d.name, low: 10, high: 1e7, ns: d.ns}
		times.frame(&b)
		for k, step := range steps() {
			times.line(&b, step, colours[k], func(n int) float64 { return t.measured(growthWhat(d, n, step), nameFront, p50) })
		}
		times.names(&b)
		held := chart{x: x, y: 2*top + height, w: width, h: height, title: "MB resident, with more " + d.name, low: 10, high: 1e3, ns: d.ns}
		held.frame(&b)
		held.line(&b, "memory", colours[0], func(n int) float64 { return t.measured(growthWhat(d, n, "call"), nameFront, memory) })
		held.names(&b)
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" fill="#666">What doubles with twice as many is as steep as the grey line.</text>`+"\n", left, 2*(top+height)+35)
	fmt.Fprintln(&b, "</svg>")
	_, err := io.WriteString(w, b.String())
	return err
}

// figure is the median of the rounds, or not a number.
func (t *report) measured(what, front string, c column) float64 {
	r := t.find(what, front)
	if r == nil {
		return math.NaN()
	}
	return median(r.figures[c])
}

// chart is one pair of axes.
type chart struct {
	x, y, w, h int
	title      string
	low, high  float64
	ns         []int
	last       []name // of the lines
}

// name is what a line is called at its end.
type name struct {
	y            float64
	text, colour string
}

// at returns where a figure stands.
func (c chart) at(n int, v float64) (x, y float64) {
	part := func(v, low, high float64) float64 {
		return math.Log(min(max(v, low), high)/low) / math.Log(high/low)
	}
	first, last := float64(c.ns[0]), float64(c.ns[len(c.ns)-1])
	return float64(c.x) + float64(c.w)*part(float64(n), first, last), float64(c.y) + float64(c.h)*(1-part(v, c.low, c.high))
}

// frame draws the axes, and the grey line that grows with n.
func (c chart) frame(b *strings.Builder) {
	fmt.Fprintf(b, `<text x="%d" y="%d" font-weight="bold">%s</text>`+"\n", c.x, c.y-10, c.title)
	fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="none" stroke="#999"/>`+"\n", c.x, c.y, c.w, c.h)
	for v := c.low; v <= c.high*1.001; v *= 10 {
		_, y := c.at(c.ns[0], v)
		fmt.Fprintf(b, `<text x="%d" y="%.0f" text-anchor="end">%g</text>`+"\n", c.x-4, y+4, v)
	}
	for _, n := range c.ns {
		x, _ := c.at(n, c.low)
		fmt.Fprintf(b, `<text x="%.0f" y="%d" text-anchor="middle">%d</text>`+"\n", x, c.y+c.h+14, n)
	}
	first, last := c.ns[0], c.ns[len(c.ns)-1]
	end := min(last, int(float64(first)*c.high/c.low))
	x1, y1 := c.at(first, c.low)
	x2, y2 := c.at(end, c.low*float64(end)/float64(first))
	fmt.Fprintf(b, `<line x1="%.0f" y1="%.0f" x2="%.0f" y2="%.0f" stroke="#ccc"/>`+"\n", x1, y1, x2, y2)
}

// line draws what was measured.
func (c *chart) line(b *strings.Builder, what, colour string, measured func(n int) float64) {
	var points []string
	for _, n := range c.ns {
		if v := measured(n); !math.IsNaN(v) {
			x, y := c.at(n, v)
			points = append(points, fmt.Sprintf("%.0f,%.0f", x, y))
			fmt.Fprintf(b, `<circle cx="%.0f" cy="%.0f" r="3" fill="%s"><title>%s, %d: %s</title></circle>`+"\n", x, y, colour, what, n, figure(v))
			if n == c.ns[len(c.ns)-1] {
				c.last = append(c.last, name{y, what + " " + figure(v), colour})
			}
		}
	}
	fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.Join(points, " "), colour)
}

// names writes what the lines are called beside their ends, none over another.
func (c *chart) names(b *strings.Builder) {
	const apart = 13
	slices.SortFunc(c.last, func(m, n name) int { return cmp.Compare(n.y, m.y) })
	free := math.Inf(1)
	for _, n := range c.last {
		y := min(n.y, free)
		free = y - apart
		fmt.Fprintf(b, `<text x="%d" y="%.0f" fill="%s">%s</text>`+"\n", c.x+c.w+8, y+4, n.colour, n.text)
	}
}
