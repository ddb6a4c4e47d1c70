// Package filewatch notices that files are others than before. It watches their folders, and those of the symbolic
// links on the way to them, since most programs that change a file put another one in its place. It also looks at the
// files every two seconds: a system may have no more watches to give, and tells nothing of what other machines change
// on a network file system.
package filewatch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// quietTime is how long a file is left alone before it is read: editors and deployments change it in several steps.
	quietTime = 200 * time.Millisecond
	// busyTime is how long a file is waited for that is changed all the time.
	busyTime = 2 * time.Second
	// lookTime is how often files are looked at, whether they are watched or not.
	lookTime = 2 * time.Second
)

// A Watch watches files. It is for one goroutine.
type Watch struct {
	paths   []string
	lost    func(error)
	from    *fsnotify.Watcher // without channels if nothing could be watched
	blind   bool              // nothing could be watched, and that was told
	places  []string          // what a change of is a change of the files
	marks   []mark            // the files as they were when they were looked at last
	look    *time.Timer       // they are to be looked at
	looked  chan []mark       // what a look has found
	settled *time.Timer       // the files are to be read
	first   time.Time         // when they were changed since they were read
}

// New watches files, which need not be there. lost is told why changes may be noticed only by looking.
func New(paths []string, lost func(error)) *Watch {
	// What was changed before the watch began is found by a first look.
	w := &Watch{paths: paths, lost: lost, from: &fsnotify.Watcher{}, look: time.NewTimer(lookTime), looked: make(chan []mark, 1), settled: time.NewTimer(quietTime)}
	w.renew()
	return w
}

// Close ends the watch.
func (w *Watch) Close() {
	w.settled.Stop()
	w.look.Stop()
	if w.from.Events != nil {
		_ = w.from.Close()
	}
}

// Wait waits until the files are to be read, because they were changed and then left alone, or because somebody asks
// for it. The error is the cause of the end of ctx. What is changed after Wait has returned is noticed by the next one.
func (w *Watch) Wait(ctx context.Context, asks <-chan struct{}) (asked bool, err error) {
	for {
		select {
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case e := <-w.from.Events:
			w.note(e)
			continue
		case err := <-w.from.Errors:
			w.fault(err)
			continue
		case <-w.look.C:
			go func(paths []string) { w.looked <- marks(paths) }(w.paths) // a disk that hangs holds up nobody
			continue
		case found := <-w.looked:
			if !slices.Equal(found, w.marks) {
				w.marks = found
				w.postpone()
			}
			w.look.Reset(lookTime)
			continue
		case <-asks:
			asked = true
		case <-w.settled.C:
		}
		w.renew()
		return asked, nil
	}
}

// Follow has the watch be of these files. Files that are new to the watch are to be read again: they may have changed
// before.
func (w *Watch) Follow(paths []string) {
	if !slices.Equal(paths, w.paths) {
		w.paths = paths
		w.postpone()
	}
}

// renew watches the folders of all places, as they are now. A folder is watched anew even if it was before: under its
// name there may be another. All of the watcher is made anew, for on Windows one that gives up a folder while something
// happens there closes its handle twice, which may be that of another file by then.
func (w *Watch) renew() {
	w.first = time.Time{}
	w.marks = marks(w.paths)
	if w.from.Events != nil {
		_ = w.from.Close() // nothing is kept in it, and what is changed now is read when this is done
	}
	var err error
	if w.from, err = fsnotify.NewWatcher(); err != nil {
		if !w.blind { // or it was told before
			w.lost(err)
		}
		w.blind, w.from = true, &fsnotify.Watcher{} // nothing comes from its channels
		return
	}
	w.blind = false
	w.places = nil
	var folders []string
	for _, path := range w.paths {
		for _, place := range places(path) {
			folders = append(folders, filepath.Dir(place))
			w.places = append(w.places, place, filepath.Dir(place))
		}
	}
	var faults []error
	Listening(w.from, func() {
		for _, dir := range folders {
			faults = append(faults, w.from.Add(dir))
		}
	}, w.note, w.fault)
	for _, err := range faults {
		if errors.Is(err, fs.ErrNotExist) {
			w.settled.Reset(quietTime) // it went this very moment: look again
		} else if err != nil {
			w.lost(err)
		}
	}
}

// Listening has ask ask something of a watcher while what it reports is taken by note and fault: on Windows a watcher
// that has something to report answers nothing, for ever, until somebody takes it.
func Listening(from *fsnotify.Watcher, ask func(), note func(fsnotify.Event), fault func(error)) {
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		ask()
	}()
	for {
		select {
		case <-asked:
			return
		case e := <-from.Events:
			note(e)
		case err := <-from.Errors:
			fault(err)
		}
	}
}

// fault looks at the files if changes were too many to be reported; of anything else lost is told.
func (w *Watch) fault(err error) {
	if errors.Is(err, fsnotify.ErrEventOverflow) {
		w.postpone()
	} else {
		w.lost(err)
	}
}

// note puts off the reading of files that are being changed.
func (w *Watch) note(e fsnotify.Event) {
	for _, place := range w.places {
		if strings.EqualFold(place, e.Name) { // some file systems take either
			w.postpone()
			return
		}
	}
}

func (w *Watch) postpone() {
	now := time.Now()
	if w.first.IsZero() {
		w.first = now
	}
	w.settled.Reset(min(quietTime, max(0, busyTime-now.Sub(w.first))))
}

// A mark is what tells a file, or a link on the way to it, from another one in its place.
type mark struct {
	place    string
	mode     fs.FileMode
	size     int64
	modified int64 // in Unix nanoseconds
}

func marks(paths []string) (all []mark) {
	for _, path := range paths {
		for _, place := range places(path) {
			m := mark{place: place}
			if info, err := os.Lstat(place); err == nil {
				m.mode, m.size, m.modified = info.Mode(), info.Size(), info.ModTime().UnixNano()
			}
			all = append(all, m)
		}
	}
	return all
}

// maxLinks is how many symbolic links are followed: more are a circle.
const maxLinks = 40

// places returns what decides which file is at path: each symbolic link on the way, and the file itself, or what of the
// way is missing first. Links in the root folder are left out: they belong to the system.
func places(path string) (found []string) {
	volume := filepath.VolumeName(path)
	root := volume + string(filepath.Separator)
	at, way := root, split(path[len(volume):])
	for links := 0; len(way) > 0 && links < maxLinks; {
		step := way[0]
		way = way[1:]
		if step == ".." {
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, step)
		info, err := os.Lstat(next)
		switch {
		case err != nil || len(way) == 0 && info.Mode()&fs.ModeSymlink == 0:
			return append(found, next)
		case info.Mode()&fs.ModeSymlink == 0:
			at = next
			continue
		}
		links++
		if at != root {
			found = append(found, next)
		}
		target, err := os.Readlink(next)
		if err != nil {
			return found
		}
		if filepath.IsAbs(target) {
			target, at = target[len(filepath.VolumeName(target)):], root
		}
		way = append(split(target), way...)
	}
	return found
}

// split returns the steps of a path.
func split(path string) (steps []string) {
	for _, step := range strings.Split(filepath.ToSlash(path), "/") {
		if step != "" && step != "." {
			steps = append(steps, step)
		}
	}
	return steps
}
