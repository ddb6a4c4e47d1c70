package workflowsrv

import (
	"context"
	"sync"

	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/mcpserve"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

// An audience are the sessions that are told of changes.
type audience struct {
	shelf   *shelf
	runs    *runs.Engine
	stirred chan struct{} // has tell look

	mu       sync.Mutex // guards what follows
	entered  int
	sessions map[*mcpserve.Session]string // those over MCP, with whose they are
	begun    map[string]bool              // whose runs have begun of which nobody was told yet
	listed   *definition.Catalogue        // the first of which prompts or skills were listed since clients were told of a change
	watch    *watch                       // while there are sessions
}

// A watch are the goroutines that watch the directories and tell of changes.
type watch struct {
	stop  context.CancelFunc
	ended chan struct{}
}

// enter counts a session in. The first one starts to watch the directories.
func (a *audience) enter() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.entered++; a.entered > 1 {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	w := &watch{stop: cancel, ended: make(chan struct{})}
	a.watch = w
	go func() {
		defer close(w.ended)
		var told sync.WaitGroup
		defer told.Wait()
		// It reads the files now, so that the first call finds them read.
		told.Go(func() { a.tell(ctx) })
		if err := a.shelf.store.Watch(ctx, a.stir); err != nil {
			a.shelf.log.Warn().AnErr(logkey.Err, err).Msg("workflow files are checked twice a second instead")
		}
	}()
}

// leave counts a session out. The last one stops the watching and waits for its end, or for that of ctx: reading a
// directory can hang.
func (a *audience) leave(ctx context.Context) {
	a.mu.Lock()
	var last *watch
	if a.entered--; a.entered == 0 {
		last, a.watch = a.watch, nil
	}
	a.mu.Unlock()
	if last != nil {
		last.stop()
		select {
		case <-last.ended:
		case <-ctx.Done():
		}
	}
}

// forList gives the workflows for a list of which clients are told when it changes.
func (a *audience) forList() *definition.Catalogue {
	c := a.shelf.catalogue()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.listed == nil {
		a.listed = c
	}
	return c
}

// joined counts a session over MCP in, left counts it out.
func (a *audience) joined(session *mcpserve.Session, principal string) {
	a.mu.Lock()
	a.sessions[session] = principal
	a.mu.Unlock()
	a.enter()
}

func (a *audience) left(ctx context.Context, session *mcpserve.Session) {
	a.mu.Lock()
	delete(a.sessions, session)
	a.mu.Unlock()
	a.leave(ctx)
}
