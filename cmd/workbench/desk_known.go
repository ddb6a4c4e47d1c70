package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/diagnosis"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
	"github.com/mcp-workbench/workbench/workflowsrv/command/example"
)

// A workflowFolder is the folder of a command workflow, and those that it
// extends. It is to be closed.
type workflowFolder struct {
	*openfile.Folder
	place  string // with no link in it
	others []*openfile.Folder
}

// openWorkflow opens the folder of a workflow.
func openWorkflow(dir string) (*workflowFolder, error) {
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
	return &workflowFolder{Folder: root, place: place}, nil
}

// cannotOpen words why the folder of a workflow cannot be opened.
func cannotOpen(dir string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no folder %s", dir)
	}
	return err
}

// options are those that load the workflow from its folder.
func (f *workflowFolder) options() command.LoadOptions {
	return command.LoadOptions{Dir: f.place, Folder: f.open}
}

// open opens a folder that the workflow extends: one beside its own, or in
// that. No link leads further.
func (f *workflowFolder) open(path string) (fs.FS, error) {
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
func (f *workflowFolder) Close() error {
	err := f.Folder.Close()
	for _, other := range f.others {
		err = errors.Join(err, other.Close())
	}
	return err
}

// readFolder loads a workflow from a folder, its bindings taken at their word: no
// server is started for it.
func readFolder(dir string) (*command.Workflow, error) {
	root, err := openWorkflow(dir)
	if err != nil {
		return nil, cannotOpen(dir, err)
	}
	defer root.Close()
	return command.Load(root.FS(), root.options())
}

// knownDesk is what can be told of a server of commands before it is made: nil of
// those that are made of a toolbox.
func knownDesk(source string) (*command.Workflow, error) {
	switch {
	case source == config.CommandsExample:
		return command.Load(example.Files(), command.LoadOptions{})
	case isFolder(source):
		return readFolder(source)
	}
	return nil, nil
}

// isFolder reports whether a server of commands serves a folder.
func isFolder(source string) bool {
	return source != config.CommandsExample && !strings.HasPrefix(source, config.CommandsToolbox)
}

// lookAtDesk finds what keeps a server of commands from working.
func lookAtDesk(s config.Server) []diagnosis.Finding {
	_, err := knownDesk(s.Commands)
	if err == nil {
		return nil
	}
	return []diagnosis.Finding{{Level: diagnosis.Fault, Message: "its commands cannot be served: " + err.Error(),
		Remedy: "workbench commands check " + s.Commands + " shows more"}}
}

// report logs which servers of commands of the configuration cannot be made,
// before somebody wants them. Nobody waits for it but Close.
func (d *desks) report() {
	cfg, log := d.now()
	d.owed.Go(func() {
		for _, t := range cfg.Toolboxes {
			for _, s := range t.Servers {
				if s.Builtin != commandsBuiltin || s.Disabled || s.Problem != nil {
					continue
				}
				for _, f := range lookAtDesk(s) {
					log.Error().Str(logkey.Toolbox, t.Name).Str(logkey.Server, s.Name).Str(logkey.Err, f.Message).Str(logkey.Detail, f.Remedy).Msg("commands cannot be served")
				}
			}
		}
	})
}
