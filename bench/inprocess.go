package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/calls"
	"github.com/mcp-workbench/workbench/internal/mask"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy"
	"github.com/mcp-workbench/workbench/toolbox"
)

// inProcess is a front that runs in this process, over pipes, with its server in a process of its own. The driver
// allocates nothing while it measures; so what is allocated, or shows in a profile, is the front's.
type inProcess struct {
	*stdioClient
	ours   pipes
	ended  chan error
	cancel context.CancelFunc
}

// serveFunc runs a front until in ends.
type serveFunc func(ctx context.Context, in io.Reader, out io.Writer) error

// here makes a front of this process's; argv is the server's.
func (p programs) here(name string, argv []string) (front, serveFunc, error) {
	switch name {
	case relayFront:
		return front{name: name}, func(ctx context.Context, in io.Reader, out io.Writer) error {
			return runRelay(ctx, in, out, argv)
		}, nil
	case typedFront:
		return front{name: name}, func(ctx context.Context, in io.Reader, out io.Writer) error {
			return runTyped(ctx, in, out, "", argv)
		}, nil
	}
	path, err := p.config("in-process", argv, false)
	if err != nil {
		return front{}, nil, err
	}
	return p.hereFrom(name, path)
}

// hereFrom makes a front of this process's that is workbench with the configuration at a path.
func (p programs) hereFrom(name, path string) (front, serveFunc, error) {
	src, err := config.Read(path)
	if err != nil {
		return front{}, nil, err
	}
	cfg, err := src.Parse(os.LookupEnv)
	if err != nil {
		return front{}, nil, err
	}
	f := front{name: name, box: true}
	if name == useFront {
		f.way = useTool
	}
	return f, func(ctx context.Context, in io.Reader, out io.Writer) error {
		opts := proxy.Options{Version: "bench", Calls: calls.New(cmp.Or(p.record, calls.Meta)), Toolbox: toolbox.Options{Environ: os.Environ(), Masks: new(mask.Set)}}
		workbench, err := proxy.New(cfg, opts)
		if err != nil {
			return err
		}
		return wire.Serve(ctx, in, out, workbench, wire.ServeOptions{})
	}, nil
}

// beginHere is begin of a front that here makes.
func (p programs) beginHere(ctx context.Context, name string, argv []string) (*inProcess, front, error) {
	f, serve, err := p.here(name, argv)
	if err != nil {
		return nil, f, err
	}
	c, err := begin(ctx, f, serve)
	return c, f, err
}

// begin starts a front in this process and brings it to where its tools can be called.
func begin(ctx context.Context, f front, serve serveFunc) (*inProcess, error) {
	ours, theirs, err := pipePairs()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	c := &inProcess{newStdioClient(ours), ours, make(chan error, 1), cancel}
	go func() {
		err := serve(ctx, theirs.in, theirs.out)
		theirs.close()
		c.ended <- err
	}()
	if err = greet(c); err == nil && f.box {
		err = open(c)
	}
	if err != nil {
		err = errors.Join(fmt.Errorf("%s: %w", f.name, err), c.close())
	}
	return c, err
}

func (c *inProcess) close() error {
	_ = c.ours.in.Close()
	err := <-c.ended
	c.cancel()
	_ = c.ours.out.Close()
	return err
}

// allocations counts what the fronts that can run in this process allocate.
func (b *bench) allocations(ctx context.Context) error {
	b.say("allocations")
	for _, name := range []string{relayFront, typedFront, nameFront, useFront} {
		for _, a := range answers() {
			if !b.wanted(a.label, name) {
				continue
			}
			counted := b.counted
			if r := b.report.find(a.label, name); r != nil && b.isSlow(r) {
				counted = min(counted, 4)
			}
			n, err := b.allocated(ctx, name, a.label, counted)
			if err != nil {
				return fmt.Errorf("%s of %s: %w", a.label, name, err)
			}
			b.report.row(a.label, name).add(allocs, n)
		}
	}
	return nil
}

// allocated returns how many objects a front allocates for each of a number of calls.
func (p programs) allocated(ctx context.Context, name, label string, calls int) (float64, error) {
	c, f, err := p.beginHere(ctx, name, p.child())
	if err != nil {
		return 0, err
	}
	return allocatedBy(c, f, label, calls)
}

// allocatedBy returns how many objects a front of this process allocates for each of a number of calls, to the nearest
// whole since some are allocated beside the calls, and ends it.
func allocatedBy(c *inProcess, f front, label string, calls int) (float64, error) {
	defer c.close() // what comes after the calls is of no interest
	q, err := answerOf(c, f.way, label)
	if err != nil {
		return 0, err
	}
	// First the pools are filled.
	if _, err := c.Sequence(q, effort{calls: calls / 4}); err != nil {
		return 0, err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := c.Sequence(q, effort{calls: calls}); err != nil {
		return 0, err
	}
	runtime.ReadMemStats(&after)
	return math.Round(float64(after.Mallocs-before.Mallocs) / float64(calls)), nil
}
