package backoff_test

import (
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/backoff"
)

func TestBackoff(t *testing.T) {
	type failure struct {
		after time.Duration // the one before
		up    time.Duration // how long it had been ready
		wait  time.Duration // give or take a fifth
		open  bool
	}
	const s, ms = time.Second, time.Millisecond
	for _, tt := range []struct {
		name     string
		failures []failure
	}{
		{name: "one crash is nothing", failures: []failure{{wait: 0}}},
		{name: "in a row", failures: []failure{
			{wait: 0}, {after: ms, wait: 250 * ms}, {after: 250 * ms, wait: 500 * ms}, {after: 500 * ms, wait: 1000 * ms},
			{after: s, wait: 30 * s, open: true}, {after: 30 * s, wait: 30 * s, open: true}, {after: 30 * s, wait: 30 * s, open: true},
		}},
		{name: "now and then", failures: []failure{
			{wait: 0}, {after: 61 * s, up: 61 * s, wait: 0}, {after: 90 * s, up: 90 * s, wait: 0}, {after: 2 * time.Hour, up: 2 * time.Hour, wait: 0},
		}},
		{name: "every 14 s", failures: []failure{
			{wait: 0}, {after: 14 * s, up: 14 * s, wait: 250 * ms}, {after: 14 * s, up: 14 * s, wait: 300 * ms},
			{after: 14 * s, up: 14 * s, wait: 375 * ms}, {after: 14 * s, up: 14 * s, wait: 30 * s, open: true},
		}},
		{name: "five in more than a minute", failures: []failure{
			{wait: 0}, {after: 16 * s, up: 16 * s, wait: 250 * ms}, {after: 16 * s, up: 16 * s, wait: 280 * ms},
			{after: 16 * s, up: 16 * s, wait: 350 * ms}, {after: 16 * s, up: 16 * s, wait: 410 * ms}, {after: 16 * s, up: 16 * s, wait: 460 * ms},
		}},
		{name: "healthy again", failures: []failure{
			{wait: 0}, {after: ms, wait: 250 * ms}, {after: 250 * ms, wait: 500 * ms}, {after: 500 * ms, wait: 1000 * ms},
			{after: s, wait: 30 * s, open: true}, {after: 90 * s, up: 60 * s, wait: 0}, {after: ms, wait: 250 * ms},
		}},
		{name: "a probe succeeds", failures: []failure{
			{wait: 0}, {after: ms, wait: 250 * ms}, {after: 250 * ms, wait: 500 * ms}, {after: 500 * ms, wait: 1000 * ms},
			{after: s, wait: 30 * s, open: true}, {after: 85 * s, up: 55 * s, wait: 0},
		}},
		{name: "a probe succeeds for a moment", failures: []failure{
			{wait: 0}, {after: ms, wait: 250 * ms}, {after: 250 * ms, wait: 500 * ms}, {after: 500 * ms, wait: 1000 * ms},
			{after: s, wait: 30 * s, open: true}, {after: 31 * s, up: s, wait: 30 * s, open: true},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var f backoff.Counter
			now := time.Now()
			for i, x := range tt.failures {
				now = now.Add(x.after)
				if x.up > 0 {
					f.Served(x.up)
				}
				wait, open := f.Failed(now)
				if open != x.open || wait < x.wait*75/100 || wait > x.wait*125/100 {
					t.Errorf("failure %d: got %s, open %v; want about %s, open %v", i+1, wait, open, x.wait, x.open)
				}
			}
		})
	}
}
