//go:build unix

package openfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/mcp-workbench/workbench/internal/openfile"
)

// A write for which the disk has no room, or which it does not allow, names the file that was wanted and says what to
// do.
func TestAdvised(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for cause, want := range map[error]string{
		syscall.ENOSPC: "write " + path + ": no space left on device (make room in " + dir + ", or on its disk)",
		syscall.EDQUOT: "write " + path + ": disk quota exceeded (make room in " + dir + ", or on its disk)",
		syscall.EROFS:  "write " + path + ": read-only file system (have the disk of " + dir + " mounted for writing, or choose another place)",
		syscall.EIO:    "write " + path + ": input/output error",
	} {
		err := openfile.Write(path, func(f *os.File) error { return &fs.PathError{Op: "write", Path: f.Name(), Err: cause} })
		if err == nil || err.Error() != want || !errors.Is(err, cause) {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
	for cause, want := range map[error]string{
		syscall.ENOLCK: "lock " + path + ": no locks available (the disk of " + dir + " has no locks: choose another place)",
		syscall.EPERM:  "lock " + path + ": operation not permitted",
	} {
		if err := openfile.Advised(&fs.PathError{Op: "lock", Path: path, Err: cause}); err.Error() != want {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
	if err := openfile.Replace(filepath.Join(dir, "none", "file"), nil); err == nil || !errors.Is(err, fs.ErrNotExist) || err.Error() != "open "+filepath.Join(dir, "none", "file")+": no such file or directory" {
		t.Errorf("got error %v, want that of the file that was wanted", err)
	}
}
