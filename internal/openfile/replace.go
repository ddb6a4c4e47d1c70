package openfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Prefix is what the names of files begin with that are being written. One that stays is left from a process that was
// killed meanwhile.
const Prefix = ".new-"

// Replace puts data in place of the file at path, with mode 0600: a file is there whole or not at all, since it is
// written beside its place and then renamed into it. A program that has the old file open goes on reading the old file.
// When Replace returns nil the data are on stable storage. It fails with ErrNotRegular where anything else than a regular
// file is, or a descriptor that was handed over, and leaves that alone.
func Replace(path string, data []byte) error {
	return Write(path, writing(data))
}

// Write is Replace for what write writes. If that returns an error, it is returned, and all is as it was.
func Write(path string, write func(*os.File) error) error {
	return lastingly(path, write, replace, system)
}

// Cache is Replace for what may be lost: a loss of power may leave a file that is cut or empty, which its reader is to
// notice.
func Cache(path string, data []byte) error {
	return written(path, writing(data), replace)
}

// replace is rename to where a regular file is, or nothing.
func replace(from, to string) error {
	if HandedOver(to) {
		return notRegular(to, fs.ModeDevice)
	}
	if info, err := os.Stat(to); err == nil && !info.Mode().IsRegular() {
		return notRegular(to, info.Mode())
	}
	return rename(from, to)
}

// writing is what writes data.
func writing(data []byte) func(*os.File) error {
	return func(f *os.File) error {
		_, err := f.Write(data)
		return err
	}
}

// PutNew puts data where no file is, with mode 0600, and fails with fs.ErrExist where one is. The file is there whole or
// not at all, but on a file system without links, as those of memory cards and of shared folders are, where it may be
// empty for a moment. When PutNew returns nil the data are on stable storage.
func PutNew(path string, data []byte) error { return putNew(path, data, os.Link, system) }

func putNew(path string, data []byte, link func(from, to string) error, sync syncing) error {
	return lastingly(path, writing(data), func(from, to string) error {
		if err := link(from, to); err == nil || errors.Is(err, fs.ErrExist) {
			return err
		}
		taken, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL|withoutWaiting, 0o600)
		if err != nil {
			return err
		}
		err = errors.Join(taken.Close(), rename(from, to))
		if err != nil {
			_ = os.Remove(to) // it is ours, and empty
		}
		return err
	}, sync)
}

// written has a file written beside its place and then brought there.
func written(path string, write func(*os.File) error, bring func(from, to string) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), Prefix+"*") // with mode 0600
	if err == nil {
		if err = errors.Join(write(f), f.Close()); err == nil {
			err = bring(f.Name(), path)
		}
		_ = os.Remove(f.Name()) // unless it was renamed; the first error is the one to tell
	}
	if at, ok := errors.AsType[*fs.PathError](err); ok && strings.HasPrefix(filepath.Base(at.Path), Prefix) {
		at.Path = path // that beside it is gone, and nobody knows its name
	}
	return Advised(err)
}
