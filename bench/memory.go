package main

import (
	"context"
	"fmt"
)

const (
	idleWhat = "idle"
	openWhat = "open and used"
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

// weigh measures a front after it did something, once a round.
func (b *bench) weigh(ctx context.Context, what string, f front, do func(*conversation) error) error {
	if !b.wanted(what, f.name) {
		return nil
	}
	for range b.rounds {
		c, err := f.begin(ctx)
		if err != nil {
			return err
		}
		err = do(c)
		if mb, ok := resident(c.cmd.Process.Pid); ok {
			b.report.row(what, f.name).add(memory, mb)
		}
		if cerr := c.close(); err == nil {
			err = cerr
		}
		if err != nil {
			return c.fault(fmt.Errorf("%s: %w", what, err))
		}
	}
	return nil
}
