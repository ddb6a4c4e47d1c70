package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	startWhat    = "first reply of a start"
	trivialFront = "trivial" // the least program, see bench/trivial
)

// starts measures the time from the start of a process to its first reply. Workbench has 50 servers configured, ten of
// which never answer; each leaves a mark when it is started, and none must be there before a toolbox is opened.
func (b *bench) starts(ctx context.Context) error {
	marks := filepath.Join(b.dir, "marks")
	if err := os.MkdirAll(marks, 0o700); err != nil {
		return err
	}
	crowded, err := b.crowdedConfig(marks)
	if err != nil {
		return err
	}
	fronts := []front{
		{name: trivialFront, argv: []string{b.trivial}},
		{name: nameFront, argv: b.serving(crowded)},
		b.workflow(),
	}
	fronts = slices.DeleteFunc(fronts, func(f front) bool { return !b.wanted(startWhat, f.name) })
	if len(fronts) == 0 {
		return nil
	}
	b.say("starts")
	if err := b.takeStarts(ctx, startWhat, fronts, b.plan.starts); err != nil {
		return err
	}
	return proveLazy(ctx, fronts, marks, patience)
}

// takeStarts starts each front so often, in turns.
func (b *bench) takeStarts(ctx context.Context, what string, fronts []front, times int) error {
	for range b.series {
		took := make([][]time.Duration, len(fronts))
		for n := range times {
			for i := range fronts {
				i = (i + n) % len(fronts)
				d, err := firstReply(ctx, fronts[i])
				if err != nil {
					return err
				}
				took[i] = append(took[i], d)
			}
		}
		for i, f := range fronts {
			b.report.row(what, f.name).addTimes(took[i])
		}
	}
	return nil
}

// crowdedConfig writes a configuration of 50 servers in five toolboxes, a fifth of which never answer.
func (b *bench) crowdedConfig(marks string) (string, error) {
	boxes := make(map[string]any)
	for i := range 5 {
		servers := make(map[string]any)
		for k := range 10 {
			argv := b.child("--mark", marks)
			if k%5 == 4 {
				argv = append(argv, "--mute")
			}
			servers[fmt.Sprintf("%s-%d", serverName, k)] = entry(argv)
		}
		name := toolboxName // the one that proveLazy opens
		if i > 0 {
			name = fmt.Sprintf("%s-%d", toolboxName, i)
		}
		boxes[name] = map[string]any{"description": "Servers that are not started", "mcpServers": servers}
	}
	return b.write("crowded", map[string]any{"openTimeout": "1s", "toolboxes": boxes})
}

// firstReply starts a front, greets it and ends it.
func firstReply(ctx context.Context, f front) (time.Duration, error) {
	begun := time.Now()
	c, err := f.begin(ctx)
	if err != nil {
		return 0, err
	}
	took := time.Since(begun)
	if err := c.close(); err != nil {
		return 0, c.fault(err)
	}
	return took, nil
}

// proveLazy fails if a server has been started, and then if opening a toolbox does not start its servers within that
// time, since the marks would then prove nothing.
func proveLazy(ctx context.Context, fronts []front, marks string, within time.Duration) error {
	i := slices.IndexFunc(fronts, func(f front) bool { return f.name == nameFront })
	if i < 0 {
		return nil
	}
	if started, err := os.ReadDir(marks); err != nil || len(started) > 0 {
		return fmt.Errorf("%s: %d servers were started before a toolbox was opened (%v)", nameFront, len(started), err)
	}
	f := fronts[i]
	f.box = true
	c, err := f.begin(ctx)
	if err != nil {
		return err
	}
	defer c.close() // servers that never answer may have to be killed
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		started, err := os.ReadDir(marks)
		if err == nil && len(started) == 10 {
			return nil
		}
		if err != nil || time.Since(begun) > within {
			return fmt.Errorf("%s: opening a toolbox of 10 servers left %d marks (%v)", nameFront, len(started), err)
		}
	}
}

// workflow is workbench serving its workflow server alone.
func (p programs) workflow() front {
	return front{name: workflowFront, argv: []string{p.workbench, "workflow", "serve"}}
}
