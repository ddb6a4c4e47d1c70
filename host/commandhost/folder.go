package commandhost

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// A Folder is the folder of a command workflow, and those that it extends. It is to be closed.
type Folder struct {
	*openfile.Folder
	place  string // with no link in it
	others []*openfile.Folder
}

// OpenFolder opens the folder of a workflow.
func OpenFolder(dir string) (*Folder, error) {
	place, err := filepath.Abs(dir)
	if err == nil {
		place, err = filepath.EvalSymlinks(place)
	}
	if err != nil {
		return nil, err
	}
	root, err := openfile.OpenFolder(place)
	if err != nil {
		return nil, err
	}
	return &Folder{Folder: root, place: place}, nil
}

// cannotOpen words why the folder of a workflow cannot be opened.
func cannotOpen(dir string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no folder %s", dir)
	}
	return err
}

// Options are those that load the workflow from its folder.
func (f *Folder) Options() command.LoadOptions {
	return command.LoadOptions{Dir: f.place, Folder: f.open}
}

// open opens a folder that the workflow extends: one beside its own, or in that. No link leads further.
func (f *Folder) open(path string) (fs.FS, error) {
	from := f.Folder
	if beside, ok := strings.CutPrefix(path, "../"); ok {
		around, err := openfile.OpenFolder(filepath.Dir(f.place))
		if err != nil {
			return nil, err
		}
		defer around.Close()
		path, from = beside, around
	}
	found, err := from.OpenFolder(filepath.FromSlash(path))
	if err != nil {
		return nil, err
	}
	f.others = append(f.others, found)
	return found.FS(), nil
}

// Close closes all the folders.
func (f *Folder) Close() error {
	err := f.Folder.Close()
	for _, other := range f.others {
		err = errors.Join(err, other.Close())
	}
	return err
}

// readFolder loads a workflow from a folder, its bindings taken at their word: no server is started for it.
func readFolder(dir string) (*command.Workflow, error) {
	root, err := OpenFolder(dir)
	if err != nil {
		return nil, cannotOpen(dir, err)
	}
	defer root.Close()
	return command.Load(root.FS(), root.Options())
}
