package commandhost

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/diagnosis"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/shellword"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
	"github.com/mcp-workbench/workbench/workflowsrv/command/example"
)

// isFolder reports whether a server of commands serves a folder.
func isFolder(source string) bool {
	return source != config.CommandsExample && !strings.HasPrefix(source, config.CommandsToolbox)
}

// Known is what can be told of the workflow of a source before its server is made: nil of those that are made of a
// toolbox. No server of tools is started for it.
func Known(source string) (*command.Workflow, error) {
	switch {
	case source == config.CommandsExample:
		return command.Load(example.Files(), command.LoadOptions{})
	case isFolder(source):
		return readFolder(source)
	}
	return nil, nil
}

// Workflow is the name of the workflow of a source, by which its conversations are kept; "" if it cannot be told.
func Workflow(source string) string {
	if name, is := strings.CutPrefix(source, config.CommandsToolbox); is {
		return name
	}
	w, err := Known(source)
	if err != nil {
		return ""
	}
	return w.Name
}

// Diagnose finds what keeps a server of commands from working.
func Diagnose(s config.Server) []diagnosis.Finding {
	_, err := Known(s.Commands)
	if err == nil {
		return nil
	}
	return []diagnosis.Finding{{Level: diagnosis.Fault, Message: "its commands cannot be served: " + err.Error(),
		Remedy: "workbench commands check " + shellword.Word(s.Commands) + " shows more"}}
}

// workflow loads what a configuration names, and says what its commands run with.
func (o *Options) workflow(ctx context.Context, cfg *config.Config, source string) (*command.Workflow, command.Options, error) {
	name, isToolbox := strings.CutPrefix(source, config.CommandsToolbox)
	switch {
	case source == config.CommandsExample:
		shop := example.New()
		w, err := command.Load(example.Files(), command.LoadOptions{Tools: shop.Tools()})
		return w, command.Options{Caller: shop}, err
	case isToolbox:
		box, ok := cfg.Toolbox(name)
		if !ok {
			return nil, command.Options{}, cfg.UnknownToolbox(name)
		}
		tools, unlisted, err := o.Tools.Tools(ctx, name)
		if err != nil {
			return nil, command.Options{}, err
		}
		if len(tools) == 0 {
			return nil, command.Options{}, fmt.Errorf("toolbox %q has no tools: %s", name, cmp.Or(strings.Join(unlisted, ", "), "it has no servers besides those of commands"))
		}
		return command.Project(name, box.Description.String(), tools), command.Options{Caller: o.Tools}, nil
	}
	w, err := o.folder(ctx, cfg, source)
	return w, command.Options{Caller: o.Tools, HTTP: newRequester(o.HTTP), Process: programs{o.Programs},
		LookupEnv: o.Programs.Lookup, Credential: o.Credential}, err
}

// folder loads a workflow from a folder, which may make requests and run programs: the operator has named it.
func (o *Options) folder(ctx context.Context, cfg *config.Config, dir string) (*command.Workflow, error) {
	root, err := OpenFolder(dir)
	if err != nil {
		return nil, cannotOpen(dir, err)
	}
	defer root.Close()
	load := root.Options()
	load.Tools = []command.Tool{}
	for _, name := range command.Toolboxes(root.FS(), load) {
		if _, ok := cfg.Toolbox(name); !ok {
			continue // the folder's fault, which loading it tells
		}
		tools, unlisted, err := o.Tools.Tools(ctx, name)
		if err != nil {
			return nil, err
		}
		load.Tools, load.Unlisted = append(load.Tools, tools...), append(load.Unlisted, unlisted...)
	}
	w, err := command.Load(root.FS(), load)
	if err != nil {
		return nil, fmt.Errorf("%w\nworkbench commands check %s shows more", err, shellword.Word(dir))
	}
	for _, doubt := range w.Warnings {
		o.Logger.Warn().Str(logkey.Detail, doubt.String()).Msg("a command workflow")
	}
	return w, nil
}
