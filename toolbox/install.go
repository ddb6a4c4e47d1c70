package toolbox

import (
	"context"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/runner"
)

// lookAgain is how often a starting package runner is looked at.
const lookAgain = 500 * time.Millisecond

// fetching is what is known of the installation that a package runner makes.
type fetching struct {
	server *Server
	watch  *runner.Watch

	mu   sync.Mutex
	seen bool // it installs, or did
}

// fetching begins to watch the runner that the server is started with; nil if it is started with none.
func (s *Server) fetching(env []string) *fetching {
	r := runner.Of(s.cfg.Command, s.cfg.Args)
	if r == nil {
		return nil
	}
	return &fetching{server: s, watch: r.Watch(env)}
}

// look reports whether the runner was seen to install.
func (f *fetching) look(written foreign.Words) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = f.watch.Installing(written)
	return f.seen
}

// mend puts right what was left by an installation that was ended.
func (f *fetching) mend() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if dir, err := f.watch.Mend(); err != nil {
		f.server.log.Warn().AnErr(logkey.Err, err).Msg("what is left of an installation that was ended cannot be removed")
	} else if dir != "" {
		f.server.log.Info().Str(logkey.Detail, dir).Msg("what was left of an installation that was ended is removed")
	}
}

// installing reports whether the child is a package runner in the middle of an installation: what it is to run has said nothing.
func (l *stdioLink) installing() bool {
	return l.fetches != nil && !l.spoken.Load() && l.fetches.look(l.proc.Tail())
}

// bounded gives a start its time: timeouts.start, and timeouts.install to a package runner that is seen to install. When what
// was installed speaks, it has timeouts.start from then on.
func (s *Server) bounded(ctx context.Context) (_ context.Context, end func()) {
	bounds := s.bounds.Load()
	ctx, cancel := context.WithCancelCause(ctx)
	s.child.Store(nil)
	late := func() { cancel(&TimeoutError{What: "start", After: bounds.Start}) }
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
		if s.awaitInstall(ctx, bounds, func() { cancel(&TimeoutError{What: "install", After: bounds.Install}) }) {
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
func (s *Server) awaitInstall(ctx context.Context, bounds *bounds, tooLong func()) bool {
	again := time.NewTicker(lookAgain)
	defer again.Stop()
	installing, began := false, time.Now()
	for deadline := began.Add(bounds.Start); ; {
		select {
		case <-ctx.Done():
			return false
		case <-again.C:
		}
		l := s.child.Load()
		switch {
		case l != nil && !installing && l.installing():
			installing, deadline = true, began.Add(bounds.Install)
			s.enter(Starting, Installing)
		case l != nil && installing && l.spoken.Load():
			installing, deadline = false, time.Now().Add(bounds.Start)
			s.enter(Installing, Starting)
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
