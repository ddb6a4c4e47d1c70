package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// What is measured of lock files, as the table names it.
const (
	checkWhat = "lock --check of 1,000 tools"
	pinsWhat  = "200 B beside a lock file"
	holdFront = "workbench pins: hold"
)

// lock measures what a lock file costs: comparing it with what was last seen, and in a call.
func (b *bench) lock(ctx context.Context) error {
	if err := b.check(ctx); err != nil {
		return err
	}
	return b.pinned(ctx)
}

// locked writes a configuration into a folder of its own, with the lock file of what its server offers.
func (b *bench) locked(ctx context.Context, name string, server []string, pins string) (path string, env []string, err error) {
	dir := filepath.Join(b.dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, err
	}
	env = []string{"XDG_CACHE_HOME=" + dir}
	path, err = b.write(filepath.Join(name, "workbench-config"), toolboxes(map[string]any{"pins": pins}, entry(server)))
	if err == nil {
		err = b.do(ctx, env, "lock", "--config", path)
	}
	return path, env, err
}

// check measures lock --check from the start of the program to its end.
func (b *bench) check(ctx context.Context) error {
	if !b.wanted(checkWhat, nameFront) {
		return nil
	}
	path, env, err := b.locked(ctx, "locked", b.child("--tools", fmt.Sprint(b.tools-len(answers()))), "warn")
	if err != nil {
		return err
	}
	b.say("lock files")
	for range b.series {
		took := make([]time.Duration, b.openings)
		for i := range took {
			begun := time.Now()
			if err := b.do(ctx, env, "lock", "--check", "--offline", "--config", path); err != nil {
				return err
			}
			took[i] = time.Since(begun)
		}
		b.report.row(checkWhat, nameFront).addTimes(took)
	}
	return nil
}

// allocatedBeside counts what calls beside a lock file allocate.
func (b *bench) allocatedBeside(ctx context.Context, config string) error {
	f, serve, err := b.hereFrom(holdFront, config)
	if err != nil {
		return err
	}
	c, err := begin(ctx, f, serve)
	if err != nil {
		return err
	}
	n, err := allocatedBy(c, f, "200 B", b.counted)
	b.report.row(pinsWhat, holdFront).add(allocs, n)
	return err
}

// pinned measures calls of a toolbox whose tools are compared with a lock file, and of one whose are not.
func (b *bench) pinned(ctx context.Context) error {
	serve, err := b.serve("unpinned", b.child(), false)
	if err != nil {
		return err
	}
	fronts := []front{{name: nameFront, argv: serve, box: true}, {name: holdFront, box: true}}
	fronts = slices.DeleteFunc(fronts, func(f front) bool { return !b.wanted(pinsWhat, f.name) })
	for i := range fronts {
		if fronts[i].name == holdFront {
			path, env, err := b.locked(ctx, "pinned", b.child(), "hold")
			if err != nil {
				return err
			}
			if err := b.allocatedBeside(ctx, path); err != nil {
				return err
			}
			fronts[i].argv, fronts[i].env = b.serving(path), env
		}
	}
	b.say("calls beside a lock file")
	return b.anew(ctx, fronts, []string{pinsWhat}, func(c *conversation, _ string) (*request, error) {
		return answerOf(c.caller, c.way, "200 B")
	}, b.oneByOne)
}
