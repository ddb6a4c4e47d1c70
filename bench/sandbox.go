package main

import (
	"context"
	"runtime"
	"slices"
)

// What is measured of sandboxes, as the table names it.
const (
	openedWhat   = "first reply and the open of a toolbox"
	sandboxFront = "workbench sandbox: workspace"
)

// sandboxed measures the time from the start of a workbench until a toolbox of one server is open, in a sandbox and
// without.
func (b *bench) sandboxed(ctx context.Context) error {
	if runtime.GOOS != "linux" {
		return nil
	}
	server := entry(b.child())
	server["sandbox"] = "workspace"
	confined, err := b.write("sandboxed", toolboxes(map[string]any{}, server))
	if err != nil {
		return err
	}
	free, err := b.serve("free", b.child(), false)
	if err != nil {
		return err
	}
	fronts := []front{
		{name: nameFront, argv: free, box: true},
		{name: sandboxFront, argv: b.serving(confined), box: true},
	}
	fronts = slices.DeleteFunc(fronts, func(f front) bool { return !b.wanted(openedWhat, f.name) })
	if len(fronts) == 0 {
		return nil
	}
	b.say("starts in a sandbox")
	return b.takeStarts(ctx, openedWhat, fronts, b.openings)
}
