package calls

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Files says where calls are kept on disk, one on a line as JSON, in files that nobody else may read.
type Files struct {
	Dir     string        // made if it is not there
	MaxSize int           // of all files in it together, in bytes
	MaxAge  time.Duration // of a file, since it was last written to; 0 means any
	// Failed hears why calls cannot be written, once until they can again.
	Failed func(error)
}

// shares is into how many files at least what may be kept is divided, so that what is removed is the oldest part of it.
const shares = 8

// retryTime is how long nothing is written after a disk has refused it.
const retryTime = 10 * time.Second

// name is how the names of the files begin, and how they end.
const (
	fileBegins = "calls-"
	fileEnds   = ".jsonl"
)

// Write writes each call that ends after that of the number until ctx ends, and then those that have ended by then.
// Nobody waits for it: what a disk is too slow for is missed, and a line says how many calls those are. It returns the
// number of the last of them, after which another may go on.
func (f *Files) Write(ctx context.Context, l *Log, last uint64) uint64 {
	w := &writer{Files: f}
	defer w.close()
	_ = l.Follow(ctx, last, Filter{}, func(c *Call, missed uint64) error {
		last += max(missed, 1)
		w.put(Said{c, missed})
		return nil
	})
	calls, last, missed := l.ended.After(last)
	if missed > 0 {
		w.put(Said{Missed: missed})
	}
	for _, c := range calls {
		c = l.named(c)
		w.put(Said{Call: &c})
	}
	if w.missed > 0 {
		_ = w.write(w.line(Said{Missed: w.missed})) // there is no later call that it could be written with
	}
	return last
}

// writer has the file that is written to.
type writer struct {
	*Files
	file   *os.File
	path   string
	size   int
	failed time.Time // when the disk has refused something; zero if it has not
	missed uint64    // calls since then
}

func (w *writer) put(s Said) {
	if !w.failed.IsZero() && time.Since(w.failed) < retryTime {
		w.missed += max(s.Missed, 1)
		return
	}
	var line []byte
	if w.missed > 0 {
		line = w.line(Said{Missed: w.missed})
	}
	line = append(line, w.line(s)...)
	if err := w.write(line); err != nil {
		if w.failed.IsZero() && w.Failed != nil {
			w.Failed(err)
		}
		w.failed = time.Now()
		w.missed += max(s.Missed, 1)
		return
	}
	w.failed, w.missed = time.Time{}, 0
}

// line is a call as it is, or what is missed. Of a call that would fill much of a file the least is kept, since what
// all files may have is promised.
func (w *writer) line(s Said) []byte {
	if s.Call == nil {
		return encode(s)
	}
	line := encode(s.Call)
	if len(line) <= w.MaxSize/shares/2 {
		return line
	}
	c := *s.Call
	c.ArgumentsLeft, c.ResultLeft = c.ArgumentsLeft || c.Arguments != nil, c.ResultLeft || c.Result != nil
	c.Arguments, c.Result, c.Stderr = nil, nil, nil
	return encode(&c)
}

func encode(v any) []byte {
	var line bytes.Buffer
	_ = wire.NewEncoder(&line).Encode(v)
	return line.Bytes()
}

func (w *writer) write(line []byte) error {
	if w.file != nil {
		if _, err := os.Lstat(w.path); err != nil || w.size+len(line) > w.MaxSize/shares {
			w.close()
		}
	}
	if w.file == nil {
		if err := w.open(); err != nil {
			return err
		}
	}
	if _, err := w.file.Write(line); err != nil {
		w.leave()
		return err
	}
	w.size += len(line)
	return nil
}

// leave ends a file that the disk takes nothing more into. A line of which only the beginning was written is taken back,
// and a file without a line is removed: a disk that stays full would get another such file at each try.
func (w *writer) leave() {
	_ = w.file.Truncate(int64(w.size)) // where that fails, half a line is the end of the file
	w.close()
	if w.size == 0 {
		_ = os.Remove(w.path)
	}
}

// open makes a new file, and room for it.
func (w *writer) open() error {
	if err := openfile.MakeFolder(w.Dir, 0o700); err != nil {
		return err
	}
	w.tidy()
	now := time.Now().UTC().Format("20060102T150405.000")
	for i := range 100 {
		path := filepath.Join(w.Dir, fmt.Sprintf("%s%s-%d-%d%s", fileBegins, now, os.Getpid(), i, fileEnds))
		file, err := openfile.MakeNew(path, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		w.file, w.path, w.size = file, path, 0
		return nil
	}
	return fs.ErrExist
}

// tidy removes what is too old, and the oldest of what is too much.
func (w *writer) tidy() {
	type found struct {
		path string
		size int64
		at   time.Time
	}
	var all []found
	entries, _ := os.ReadDir(w.Dir) // what cannot be read shows when a file is made
	total := int64(w.MaxSize / shares)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), fileBegins) || !strings.HasSuffix(e.Name(), fileEnds) || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err == nil {
			all = append(all, found{filepath.Join(w.Dir, e.Name()), info.Size(), info.ModTime()})
			total += info.Size()
		}
	}
	slices.SortFunc(all, func(a, b found) int { return cmp.Or(a.at.Compare(b.at), strings.Compare(a.path, b.path)) })
	for _, f := range all {
		if total > int64(w.MaxSize) || w.MaxAge > 0 && time.Since(f.at) > w.MaxAge {
			_ = os.Remove(f.path)
			total -= f.size
		}
	}
}

func (w *writer) close() {
	if w.file != nil {
		_ = w.file.Close()
		w.file = nil
	}
}
