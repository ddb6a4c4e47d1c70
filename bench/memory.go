package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	idleWhat = "idle"
	openWhat = "open and used"

	guardProcess = "its guard" // the process that starts and ends the servers of a workbench
)

// memory measures what is resident of workbench after it was greeted, and of one that has called each size of answer.
// The child is a process of its own and not counted. Meanwhile it measures the store and runs, which are in this
// process.
func (b *bench) memory(ctx context.Context) error {
	serve, err := b.serve("memory", b.child(), false)
	if err != nil {
		return err
	}
	var all []*conversation
	defer func() {
		for _, c := range all {
			_ = c.close() // what it did until now has been measured
		}
	}()
	b.say("memory")
	idle := func(*conversation) error { return nil }
	var whats []string // of all
	for _, w := range []struct {
		what string
		front
		do func(*conversation) error
	}{
		{idleWhat, front{name: nameFront, argv: serve}, idle},
		{idleWhat, b.workflow(), idle},
		{openWhat, front{name: nameFront, argv: serve, box: true}, b.callEach},
	} {
		for range b.weighed {
			if !b.wanted(w.what, w.name) {
				continue
			}
			c, err := w.begin(ctx)
			if err != nil {
				return err
			}
			all, whats = append(all, c), append(whats, w.what)
			if err := w.do(c); err != nil {
				return c.fault(fmt.Errorf("%s: %w", w.what, err))
			}
		}
	}
	// All settle at once, and while something is measured in which they have no part.
	rested := time.Now()
	if len(all) > 0 {
		rested = rested.Add(b.settle)
	}
	if err := errors.Join(b.store(ctx), b.runs(ctx)); err != nil {
		return err
	}
	time.Sleep(time.Until(rested))
	for i, c := range all {
		pid := c.cmd.Process.Pid
		if mb, ok := resident(pid); ok {
			b.report.row(whats[i], c.name).add(memory, mb)
		}
		if mb, ok := resident(firstChild(pid)); ok && whats[i] == openWhat {
			b.report.row(openWhat, guardProcess).add(memory, mb)
		}
	}
	return nil
}

// callEach calls for each size of answer.
func (b *bench) callEach(c *conversation) error {
	for _, a := range answers() {
		q, err := answerOf(c, c.way, a.label)
		if err != nil {
			return err
		}
		if _, err := c.Sequence(q, effort{calls: b.counted}); err != nil {
			return err
		}
	}
	return nil
}
