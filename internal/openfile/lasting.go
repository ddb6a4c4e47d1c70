package openfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/mcp-workbench/workbench/internal/syserr"
)

// What was written is in the memory of the system first, and so is the name that leads to it: a loss of power takes
// either away, and may leave the name of a file that is empty. So what lies in a file is put on stable storage before
// its name leads there, and then the folder with the name.

// syncing puts an open file or folder on stable storage.
type syncing func(*os.File) error

func system(f *os.File) error { return f.Sync() }

// lastingly is written for what is there after a loss of power when it has returned nil.
func lastingly(path string, write func(*os.File) error, bring func(from, to string) error, sync syncing) error {
	err := written(path, func(f *os.File) error {
		if err := write(f); err != nil {
			return err
		}
		return sync(f)
	}, bring)
	if err != nil {
		return err
	}
	return Advised(sync.names(filepath.Dir(path)))
}

// names puts the names in a folder on stable storage, where the system has a way to say so.
func (sync syncing) names(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.OpenFile(dir, os.O_RDONLY|withoutWaiting, 0)
	if err != nil {
		return nil // A folder that may be passed through but not read, such as /home, has been there before.
	}
	defer f.Close()
	if err := sync(f); err != nil && !syserr.IsUnsynced(err) {
		return err
	}
	return nil
}

// MakeFolder makes what is missing of a folder, with that mode: 0700 is for this user alone. It lasts.
func MakeFolder(path string, mode fs.FileMode) error {
	made := missing(path)
	err := os.MkdirAll(path, mode)
	for _, dir := range made {
		if err == nil {
			err = syncing(system).names(filepath.Dir(dir))
		}
	}
	return Advised(err)
}

// InFirst returns what do makes in the first of some folders that will do. The error says why none does.
func InFirst[T any](dirs []string, do func(dir string) (T, error)) (made T, err error) {
	errs := []error{}
	for _, dir := range dirs {
		if made, err = do(dir); err == nil {
			return made, nil
		}
		errs = append(errs, err)
	}
	if len(errs) == 0 {
		return made, ErrNowhere
	}
	return made, errors.Join(errs...)
}

// ErrNowhere says that there is no folder to choose from.
var ErrNowhere = errors.New("there is no folder for it: neither XDG_RUNTIME_DIR nor HOME is set")

// missing are the folders on the way to one, and that one, which are not there.
func missing(path string) (dirs []string) {
	for path = filepath.Clean(path); filepath.Dir(path) != path; path = filepath.Dir(path) {
		if _, err := os.Stat(path); err == nil {
			break
		}
		dirs = append(dirs, path)
	}
	return dirs
}

// Move renames a file or a folder, which may take the place of a file. Its new name lasts; for what is in it see Settle.
func Move(from, to string) error {
	if err := rename(from, to); err != nil {
		return Advised(err)
	}
	return Advised(syncing(system).names(filepath.Dir(to)))
}

// Remove removes a file for good.
func Remove(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return Advised(syncing(system).names(filepath.Dir(path)))
}

// Settle puts all that is in a folder, which is the user's own, on stable storage, before it is moved to where it is
// found.
func Settle(dir string) error { return settle(dir, system) }

func settle(dir string, sync syncing) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return Advised(sync.names(path))
		}
		f, _, err := open(path, os.O_RDWR) // Windows syncs nothing else
		if err != nil {
			return err
		}
		defer f.Close()
		return Advised(sync(f))
	})
}
