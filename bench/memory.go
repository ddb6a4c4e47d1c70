package main

import (
	"context"
	"fmt"
	"time"
)

const (
	idleWhat = "idle"
	openWhat = "open and used"

	guardProcess = "its guard" // the process that starts and ends the servers of a workbench
)

// memory measures what is resident of workbench after it was greeted, and of one that has called each size of answer. The
// child is a process of its own and not counted.
func (b *bench) memory(ctx context.Context) error {
	serve, err := b.serve("memory", b.child(), false)
	if err != nil {
		return err
	}
	b.say("memory")
	for _, f := range []front{{name: nameFront, argv: serve}, b.workflow()} {
		if err := b.weigh(ctx, idleWhat, f, func(*conversation) error { return nil }); err != nil {
			return err
		}
	}
	return b.weigh(ctx, openWhat, front{name: nameFront, argv: serve, box: true}, func(c *conversation) error {
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
	})
}

// weigh measures fronts after they did something, a front a round, and once they had time to give back what they needed
// for it, which all have at the same time.
func (b *bench) weigh(ctx context.Context, what string, f front, do func(*conversation) error) (err error) {
	if !b.wanted(what, f.name) {
		return nil
	}
	var all []*conversation
	defer func() {
		for _, c := range all {
			if cerr := c.close(); err == nil && cerr != nil {
				err = c.fault(fmt.Errorf("%s: %w", what, cerr))
			}
		}
	}()
	for range b.rounds {
		c, err := f.begin(ctx)
		if err != nil {
			return err
		}
		all = append(all, c)
		if err := do(c); err != nil {
			return c.fault(fmt.Errorf("%s: %w", what, err))
		}
	}
	time.Sleep(b.settle)
	for _, c := range all {
		pid := c.cmd.Process.Pid
		if mb, ok := resident(pid); ok {
			b.report.row(what, f.name).add(memory, mb)
		}
		if mb, ok := resident(firstChild(pid)); ok && what == openWhat {
			b.report.row(what, guardProcess).add(memory, mb)
		}
	}
	return nil
}
