package definition

import (
	"context"
	"fmt"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/mcp-workbench/workbench/internal/filewatch"
)

// Watch asks the system to report changes in the directories, so that the next call of [Store.Catalogue] sees them at
// once, until ctx ends. A directory that cannot be watched, or does not exist, is tried again every few seconds; until
// then the half-second rule of Catalogue holds for it. changed is called with each report, and when a directory begins
// to be watched. The error is nil when ctx ends, and otherwise says why nothing can be watched.
func (s *Store) Watch(ctx context.Context, changed func()) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch workflow directories: %w", err)
	}
	defer watcher.Close()
	report := func() {
		s.dirty.Store(true)
		changed()
	}
	event := func(fsnotify.Event) { report() }
	fault := func(error) { report() } // events may have been lost
	add := func() {
		more := false
		filewatch.Listening(watcher, func() { more = s.addDirs(watcher) }, event, fault)
		if more {
			report()
		}
	}
	add()
	retry := time.NewTicker(5 * time.Second)
	defer retry.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case e := <-watcher.Events:
			event(e)
		case err := <-watcher.Errors:
			fault(err)
		case <-retry.C:
			add()
		}
	}
}

// addDirs watches the directories that are not watched yet, and reports whether there are any. A directory that was
// removed has left the list by itself.
func (s *Store) addDirs(watcher *fsnotify.Watcher) (more bool) {
	watched := map[string]bool{}
	for _, dir := range watcher.WatchList() {
		watched[dir] = true
	}
	for _, source := range s.sources {
		if source.FS == nil && !watched[source.Dir] && watcher.Add(source.Dir) == nil {
			more = true
		}
	}
	return more
}
