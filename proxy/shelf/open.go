package shelf

import (
	"context"
	"slices"
	"sync"

	"github.com/mcp-workbench/workbench/toolbox"
)

// OpenMarked opens the toolboxes that are open without being asked for, and waits until their servers are there or
// late. Later it does nothing: a server that is missing then is announced when it is there, and nobody is to wait for
// it at each list.
func (sh *Shelf) OpenMarked(ctx context.Context) {
	v := sh.View()
	var wg sync.WaitGroup
	for _, name := range sh.Unsettled() {
		if !v.isMarked(name) {
			wg.Go(func() { findPinned(ctx, sh, name) })
		} else if b, err := sh.Box(name); err == nil {
			// Nothing is announced: the list that waits for this has it.
			wg.Go(func() { _, _ = sh.Open(ctx, b, false) })
		}
	}
	wg.Wait()
}

// OpenNew opens the toolboxes that are open without being asked for since a reload.
func (sh *Shelf) OpenNew(ctx context.Context) {
	sh.OpenMarked(ctx)
	sh.update(sh.opening.due)
}

// OpeningServers returns the servers of the toolboxes that OpenMarked opens.
func (sh *Shelf) OpeningServers() (all []*toolbox.Server) {
	v := sh.View()
	for _, name := range sh.Unsettled() {
		if !v.isMarked(name) {
			if b := dormant(sh, name); b != nil {
				all = append(all, b.Servers()...)
			}
		} else if b, err := sh.Box(name); err == nil {
			all = append(all, b.Servers()...)
		}
	}
	return all
}

// Unsettled returns the marked toolboxes that were not opened to the end yet, and those whose pinned tools were not
// looked for.
func (sh *Shelf) Unsettled() []string {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	v := sh.View()
	names := slices.DeleteFunc(v.Marked(), func(name string) bool {
		b := sh.boxes[name]
		return b != nil && b.settled
	})
	return append(names, v.unpinned(sh.boxes)...)
}

// Open opens a toolbox so that its tools are listed, waits for its servers, or for those that are named, and, if
// announce is set, tells the client of its changed lists, once. If it said anything of the tools, listed is closed when
// the client has read them.
func (sh *Shelf) Open(ctx context.Context, b *Box, announce bool, names ...string) (listed <-chan struct{}, err error) {
	begin(sh, b)
	err = b.open(ctx, sh.View().Cfg.OpenTimeout, names...)
	var next chan struct{}
	told := sh.update(func() bool {
		sh.opening.under--
		b.listed = true
		b.settled = b.settled || ctx.Err() == nil && len(names) == 0
		if sh.boxes[b.Name] != b && !sh.closed {
			err = sh.View().NoToolbox(b.Name) // a reload has taken it away meanwhile
		}
		next = sh.listed
		return announce || sh.opening.overdue && sh.opening.due()
	})
	if !told {
		return nil, err
	}
	return next, err
}
