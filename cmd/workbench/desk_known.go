package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/diagnosis"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
	"github.com/mcp-workbench/workbench/workflowsrv/command/example"
)

// openWorkflow opens the folder of a workflow.
func openWorkflow(dir string) (*openfile.Folder, error) {
	root, err := openfile.OpenFolder(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no folder %s", dir)
	}
	return root, err
}

// readFolder loads a workflow from a folder, its bindings taken at their word: no
// server is started for it.
func readFolder(dir string) (*command.Workflow, error) {
	root, err := openWorkflow(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return command.Load(root.FS(), command.LoadOptions{})
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
