// Package wholefile writes files that are there whole or not at all: beside the
// place where they belong, for their user alone, and then renamed into it. Who
// has the old file open goes on reading that.
package wholefile

import (
	"errors"
	"os"
	"path/filepath"
)

// Prefix is what the names of files begin with that are being written. One that
// stays is left from a process that was killed meanwhile.
const Prefix = ".new-"

// Replace puts data in place of the file at path, with mode 0600. When it
// returns nil the data are on stable storage.
func Replace(path string, data []byte) error {
	return Write(path, func(f *os.File) error {
		_, err := f.Write(data)
		return err
	})
}

// Write is Replace for what write writes. If that returns an error, it is
// returned, and all is as it was.
func Write(path string, write func(*os.File) error) error {
	return put(path, func(f *os.File) error {
		if err := write(f); err != nil {
			return err
		}
		return f.Sync()
	})
}

// Cache is Replace for what may be lost: a loss of power may leave a file that
// is cut or empty, which its reader is to notice.
func Cache(path string, data []byte) error {
	return put(path, func(f *os.File) error {
		_, err := f.Write(data)
		return err
	})
}

func put(path string, write func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), Prefix+"*") // with mode 0600
	if err != nil {
		return err
	}
	if err = errors.Join(write(f), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error is the one to tell
	}
	return err
}
