package openfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mcp-workbench/workbench/internal/syserr"
)

// unlockable words an error of locking; nil if there is none.
func unlockable(f *os.File, err error) error {
	if err == nil {
		return nil
	}
	return Advised(&os.PathError{Op: "lock", Path: f.Name(), Err: err})
}

// Reason says why something could not be done with a file, without what that was and the file's name.
func Reason(err error) string {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err.Error()
	}
	return err.Error()
}

// Advised says in the error of a write, or of a lock, what to do if the disk is full, cannot be written or has no locks;
// any other error is returned as it is. The errors of this package are advised. A caller that writes to a file that was
// opened here passes the errors of writing to Advised.
func Advised(err error) error {
	var at *fs.PathError
	if !errors.As(err, &at) {
		return err
	}
	switch folder := filepath.Dir(at.Path); {
	case syserr.IsFull(err):
		return fmt.Errorf("%w (make room in %s, or on its disk)", err, folder)
	case syserr.IsReadOnly(err):
		return fmt.Errorf("%w (have the disk of %s mounted for writing, or choose another place)", err, folder)
	case at.Op == "lock" && syserr.IsNoLocks(err):
		return fmt.Errorf("%w (the disk of %s has no locks: choose another place)", err, folder)
	}
	return err
}
