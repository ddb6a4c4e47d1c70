package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/logkey"
)

const (
	// quietTime is how long a file is left alone before it is read: editors and
	// deployments change it in several steps.
	quietTime = 200 * time.Millisecond
	// busyTime is how long a file is waited for that is changed all the time.
	busyTime = 2 * time.Second
)

// watch notices that files are others than before: by their folders, since most
// programs that change a file put another in its place.
type watch struct {
	paths   []string
	log     zerolog.Logger
	from    *fsnotify.Watcher // nil if nothing can be watched
	places  []string          // what a change of is a change of the files
	settled *time.Timer       // the files are to be read
	first   time.Time         // when they were changed since they were read
}

// newWatch watches files, which need not be there.
func newWatch(paths []string, log zerolog.Logger) *watch {
	// What was changed before the watch began is found by a first look.
	w := &watch{paths: paths, log: log, settled: time.NewTimer(quietTime)}
	var err error
	if w.from, err = fsnotify.NewWatcher(); err != nil {
		w.lost(err)
	}
	w.renew()
	return w
}

func (w *watch) close() {
	w.settled.Stop()
	if w.from != nil {
		_ = w.from.Close() // nothing is kept in it
	}
}

// events may be nil, which nothing comes from.
func (w *watch) events() <-chan fsnotify.Event {
	if w.from == nil {
		return nil
	}
	return w.from.Events
}

func (w *watch) errors() <-chan error {
	if w.from == nil {
		return nil
	}
	return w.from.Errors
}

// renew watches the folders of all places, as they are now. A folder is watched
// anew even if it was before: under its name there may be another.
func (w *watch) renew() {
	w.first = time.Time{}
	if w.from == nil {
		return
	}
	for _, dir := range w.from.WatchList() {
		_ = w.from.Remove(dir) // it may have gone
	}
	w.places = nil
	for _, path := range w.paths {
		for _, place := range places(path) {
			dir := filepath.Dir(place)
			w.places = append(w.places, place, dir)
			if err := w.from.Add(dir); errors.Is(err, fs.ErrNotExist) {
				w.settled.Reset(quietTime) // it went this very moment: look again
			} else if err != nil {
				w.lost(err)
			}
		}
	}
}

// note puts off the reading of files that are being changed.
func (w *watch) note(e fsnotify.Event) {
	for _, place := range w.places {
		if strings.EqualFold(place, e.Name) { // some file systems take either
			w.postpone()
			return
		}
	}
}

func (w *watch) postpone() {
	now := time.Now()
	if w.first.IsZero() {
		w.first = now
	}
	w.settled.Reset(min(quietTime, max(0, busyTime-now.Sub(w.first))))
}

// lost says that changes may be missed.
func (w *watch) lost(err error) {
	if errors.Is(err, fsnotify.ErrEventOverflow) {
		w.postpone()
		return
	}
	w.log.Warn().AnErr(logkey.Err, err).Msg("the configuration file cannot be watched; SIGHUP has it read anew")
}

// maxLinks is how many symbolic links are followed: more are a circle.
const maxLinks = 40

// places returns what decides which file is at path: each symbolic link on the
// way, and the file itself, or what of the way is missing first. Links in the
// root folder are left out: they belong to the system.
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
