package store

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/pause"
)

// presence is how the processes that have a store open know of each other: each holds a lock of a file beside it, which
// the system gives back when the process ends in whatever way. Whoever is alone may set a damaged file aside; with
// others there, they would go on writing to it.
type presence struct {
	file  *os.File
	alone bool // the lock is ours alone
}

func openPresence(path string) (*presence, error) {
	f, _, err := openfile.Make(path)
	if err != nil {
		return nil, err
	}
	return &presence{file: f}, nil
}

// enter reports whether no other process has the store open; none can come until stay. Otherwise it waits until the
// others have opened it.
func (p *presence) enter(ctx context.Context) (alone bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute) // for a check of a large store
	defer cancel()
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		for _, alone := range []bool{true, false} {
			ok, err := openfile.TryLock(p.file, alone)
			if err != nil {
				return false, err
			}
			if ok {
				p.alone = alone
				return alone, nil
			}
		}
		if err := pause.For(ctx, wait); err != nil { // There is no waiting for a lock that a context can end.
			return false, fmt.Errorf("another process is opening the store and does not end (lock %s): %w", p.file.Name(), err)
		}
	}
}

// stay lets others open the store.
func (p *presence) stay() error {
	if !p.alone {
		return nil
	}
	p.alone = false
	return openfile.ShareLock(p.file)
}

// leave gives the lock back in so many words: a child that was just forked has the file open until it runs its program,
// and would have us be there until then. Where that fails there are no locks.
func (p *presence) leave() error {
	_ = openfile.Unlock(p.file)
	return p.file.Close()
}

// suspect leaves a note that the store is to be checked when it is opened next. Nothing can be done if it cannot be
// written.
func (p *presence) suspect() {
	if p != nil {
		_, _ = p.file.WriteAt([]byte("check\n"), 0)
	}
}

func (p *presence) suspected() bool {
	info, err := p.file.Stat()
	return err == nil && info.Size() > 0
}

func (p *presence) clear() { _ = p.file.Truncate(0) }
