package toolbox

import (
	"context"
	"time"

	"github.com/mcp-workbench/workbench/internal/runner"
	"github.com/mcp-workbench/workbench/toolbox/rpc"
)

// lookAgain is how often a starting package runner is looked at.
const lookAgain = 500 * time.Millisecond

// bounded gives a start its time: timeouts.start, and timeouts.install to a package runner that is seen to install.
// When what was installed speaks, it has timeouts.start from then on.
func (o *owner) bounded(ctx context.Context) (_ context.Context, end func()) {
	s := o.server
	bounds := s.bounds.Load()
	ctx, cancel := context.WithCancelCause(ctx)
	s.child.Store(nil)
	late := func() { cancel(&rpc.TimeoutError{What: "start", After: bounds.Start}) }
	if bounds.Install <= bounds.Start || runner.Of(s.cfg.Command, s.cfg.Args) == nil {
		timer := time.AfterFunc(bounds.Start, late)
		return ctx, func() {
			timer.Stop()
			cancel(nil)
		}
	}
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		if o.awaitInstall(ctx, bounds, func() { cancel(&rpc.TimeoutError{What: "install", After: bounds.Install}) }) {
			late()
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-watched
	}
}

// awaitInstall watches a package runner until ctx ends. It reports true when the start, or what remains of it after the
// installation, takes too long, and calls tooLong when the installation does.
func (o *owner) awaitInstall(ctx context.Context, bounds *bounds, tooLong func()) bool {
	enter := func(from, to State) {
		if event, moved := o.server.at.enter(from, to); moved {
			o.tell(event)
		}
	}
	again := time.NewTicker(lookAgain)
	defer again.Stop()
	installing, began := false, time.Now()
	for deadline := began.Add(bounds.Start); ; {
		select {
		case <-ctx.Done():
			return false
		case <-again.C:
		}
		p := o.server.child.Load()
		switch {
		case p != nil && !installing && p.Installs():
			installing, deadline = true, began.Add(bounds.Install)
			enter(Starting, Installing)
		case p != nil && installing && p.Spoke():
			installing, deadline = false, time.Now().Add(bounds.Start)
			enter(Installing, Starting)
		}
		switch {
		case time.Now().Before(deadline):
		case installing:
			tooLong()
			return false
		default:
			return true
		}
	}
}
