package main

import (
	"context"
	"fmt"

	"github.com/mcp-workbench/workbench/internal/calls"
)

// recordFront is workbench, called by name, that records calls in a mode.
func recordFront(mode calls.Mode) string { return "workbench, record " + string(mode) }

// recordWhat is calls with answers of a size, of which it is measured what the record costs.
func recordWhat(label string) string { return label + ", recorded" }

// recorded measures what the record of calls costs: workbenches that keep nothing of a call, what is known of it, and
// all of it.
func (b *bench) recorded(ctx context.Context) error {
	labels := map[string]string{recordWhat("200 B"): "200 B", recordWhat("100 KB"): "100 KB"}
	whats := []string{recordWhat("200 B"), recordWhat("100 KB")}
	modes := []calls.Mode{calls.Off, calls.Meta, calls.Full}
	var fronts []front
	for _, mode := range modes {
		config := toolboxes(map[string]any{}, entry(b.child()))
		config["record"] = mode
		path, err := b.write("record-"+string(mode), config)
		if err != nil {
			return err
		}
		fronts = append(fronts, front{name: recordFront(mode), box: true, argv: b.serving(path)})
	}
	b.say("the record of calls")
	if err := b.anew(ctx, fronts, whats, func(c *conversation, what string) (*request, error) {
		return answerOf(c.caller, c.way, labels[what])
	}, b.bothWays); err != nil {
		return err
	}
	p := b.programs
	for _, what := range whats {
		for _, p.record = range modes {
			name := recordFront(p.record)
			if !b.wanted(what, name) {
				continue
			}
			n, err := p.allocated(ctx, nameFront, labels[what], b.counted)
			if err != nil {
				return fmt.Errorf("%s of %s: %w", what, name, err)
			}
			b.report.row(what, name).add(allocs, n)
		}
	}
	return nil
}
