package openfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"
)

// ErrNotRegular says that a path leads to something else than a regular file.
var ErrNotRegular = errors.New("not a regular file")

// Patience is how long reading a file may take, and how long it may take where the caller of the program writes to a
// pipe meanwhile, perhaps after asking somebody for a password.
const (
	patience      = 10 * time.Second
	pipedPatience = time.Minute
)

// Open opens a file for reading. It does not wait, and refuses what is no regular file with ErrNotRegular, but for what
// was handed over by the caller of the program, as in [HandedOver].
func Open(path string) (*os.File, fs.FileInfo, error) { return open(path, os.O_RDONLY) }

// Append opens a file for writing at its end; it is made, with mode 0600, if it is not there. It may be a device too,
// such as the null device or a terminal, and a pipe that was handed over. The name of the file may be replaced later,
// as those who rotate logs do. What comes begins a line of its own, also where the last line lacks its end because the
// disk was full or the power failed.
func Append(path string) (*os.File, error) {
	f, info, err := openAs(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, func(mode fs.FileMode) bool {
		return mode.IsRegular() || mode.Type()&fs.ModeCharDevice != 0 || HandedOver(path) && mode.Type() == fs.ModeNamedPipe
	})
	if err == nil && info.Mode().IsRegular() && isTorn(path, info.Size()) {
		_, _ = f.WriteString("\n") // whoever cannot write hears of it with what is to come
	}
	return f, err
}

// isTorn reports whether the last line of a file of that size lacks its end, as far as the file can be read.
func isTorn(path string, size int64) bool {
	f, _, err := Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var last [1]byte
	_, err = f.ReadAt(last[:], size-1)
	return err == nil && last[0] != '\n'
}

// Make opens a file for reading and writing; it is made, with mode 0600, if it is not there, and made reports that.
func Make(path string) (f *os.File, made bool, err error) {
	f, _, err = open(path, os.O_RDWR|os.O_CREATE|os.O_EXCL)
	if err == nil || !errors.Is(err, fs.ErrExist) {
		return f, err == nil, err
	}
	f, _, err = open(path, os.O_RDWR|os.O_CREATE) // also where a link leads to nothing
	return f, false, err
}

// MakeNew makes a file of that mode for writing. It fails with fs.ErrExist if there is anything of that name.
func MakeNew(path string, mode fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|withoutWaiting, mode)
	return f, Advised(err)
}

// MakeTemporary makes a folder for temporary files that nobody else may read. The caller removes the folder.
func MakeTemporary(name string) (path string, err error) {
	path, err = os.MkdirTemp("", name)
	return path, Advised(err)
}

// LetRun has a file that belongs to the user be one that may be run by whoever may read it.
func LetRun(path string) error {
	f, info, err := Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	mode := info.Mode().Perm()
	return f.Chmod(mode | mode>>2&0o111)
}

// Read reads a whole file of at most so many bytes, as Open opens it. It gives up a file that is not read within ten
// seconds, or a minute if it is a pipe.
func Read(path string, most int64) ([]byte, fs.FileInfo, error) {
	type result struct {
		data []byte
		info fs.FileInfo
		err  error
	}
	read := make(chan result, 1)
	go func() { // A disk that hangs cannot be interrupted.
		data, info, err := readAll(path, most)
		read <- result{data, info, err}
	}()
	limit := patience
	if HandedOver(path) {
		limit = pipedPatience
	}
	select {
	case r := <-read:
		return r.data, r.info, r.err
	case <-time.After(limit):
		return nil, nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("not done within %s: %w", limit, os.ErrDeadlineExceeded)}
	}
}

func readAll(path string, most int64) ([]byte, fs.FileInfo, error) {
	f, info, err := Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	var data bytes.Buffer
	data.Grow(int(min(info.Size(), most)) + bytes.MinRead)
	if _, err = data.ReadFrom(io.LimitReader(f, most+1)); err == nil && int64(data.Len()) > most {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("want at most %d bytes, got more", most)}
	}
	if err != nil {
		return nil, nil, err
	}
	return data.Bytes(), info, nil
}

// HandedOver reports whether a path names a descriptor that the caller of the program has opened for it. What it leads
// to is the caller's choice, and can be read once.
func HandedOver(path string) bool {
	return strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/") ||
		path == "/dev/stdin" || path == "/dev/stdout" || path == "/dev/stderr"
}

func open(path string, flag int) (*os.File, fs.FileInfo, error) {
	return openAs(path, flag, func(mode fs.FileMode) bool {
		return mode.IsRegular() || HandedOver(path) && mode.Type() == fs.ModeNamedPipe
	})
}

// openAs opens what has a mode that will do.
func openAs(path string, flag int, fits func(fs.FileMode) bool) (*os.File, fs.FileInfo, error) {
	f, err := openFile(path, flag|withoutWaiting, 0o600)
	if err != nil {
		// Of pipes and sockets some cannot be opened at all, for a reason that tells nobody what is wrong.
		if info, statErr := os.Stat(path); statErr == nil && !fits(info.Mode()) && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, fs.ErrExist) {
			err = notRegular(path, info.Mode())
		}
		return nil, nil, Advised(err)
	}
	info, err := f.Stat()
	if err == nil && !fits(info.Mode()) {
		err = notRegular(path, info.Mode())
	}
	if err != nil {
		_ = f.Close() // nothing was done with it
		return nil, nil, err
	}
	return f, info, nil
}

func notRegular(path string, mode fs.FileMode) error {
	kind := "a device"
	switch mode.Type() {
	case fs.ModeDir:
		kind = "a folder"
	case fs.ModeNamedPipe:
		kind = "a pipe"
	case fs.ModeSocket:
		kind = "a socket"
	}
	return &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("is %s, %w", kind, ErrNotRegular)}
}
