// Package opening has what the commands that work with servers know besides the world: the servers inside this process,
// and toolboxes, which it opens for them.
package opening

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/approval"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/mask"
	"github.com/mcp-workbench/workbench/toolbox"
)

// Environment is what the commands that work with servers know besides: what there is of these in this process.
type Environment struct {
	*cli.Environment
	Hosts   *Hosts // nil before they are used
	Startup string // the command that sessions with command workflows begin with, "" for that of the workflow
	// Tune changes what the toolboxes of a command are made with; nil leaves it as it is.
	Tune func(*toolbox.Options)
	// Approvals are the calls that wait for a person.
	Approvals *approval.Register
	// Root makes the root command, by which commands are run beside this one.
	Root func(*Environment) *cobra.Command
	// Masks are the secrets that are taken out of what is kept of calls.
	Masks *mask.Set
}

// Beside is an environment for one more command in this process.
func (e *Environment) Beside(out io.Writer) *Environment {
	return &Environment{Environment: e.Environment.Beside(out), Approvals: e.Approvals, Masks: e.Masks}
}

// Aside runs one more command as the user would, and gives what it writes. That a command has printed all there is to
// say and ends with another code than 0 is no error.
func (e *Environment) Aside(ctx context.Context, out, fault io.Writer, args ...string) error {
	sub := e.Beside(out)
	sub.Err = fault
	defer func() { sub.Hosts.Close() }()
	defer sub.Logs.Close()
	root := e.Root(sub)
	sub.ConfigPath = e.ConfigPath // the flag has its default
	root.SetArgs(append([]string{"--log-level", "off"}, args...))
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	err := root.ExecuteContext(ctx)
	if errors.As(err, new(cli.SilentError)) {
		return nil
	}
	return err
}

// Recalled gives all toolboxes with what was last seen of their servers, by the configuration as it is now.
func (e *Environment) Recalled() ([]*toolbox.Toolbox, *config.Config, error) {
	boxes, cfg, _, err := e.Beside(io.Discard).Boxes(nil, nil)
	if err == nil {
		toolbox.Recall(boxes...)
	}
	return boxes, cfg, err
}

// Builtins gives the tools of the servers of a toolbox that are part of this program.
func (e *Environment) Builtins(ctx context.Context, name string) (all []json.RawMessage, err error) {
	sub := e.Beside(io.Discard)
	defer func() { sub.Hosts.Close() }()
	boxes, closeAll, err := sub.OpenBoxes(ctx, func(t *config.Toolbox) config.Toolbox {
		kept := *t
		kept.Servers = slices.DeleteFunc(slices.Clone(t.Servers), func(s config.Server) bool { return s.Transport != config.TransportBuiltin })
		return kept
	}, name)
	if err != nil {
		return nil, err
	}
	defer closeAll()
	for _, srv := range Servers(boxes) {
		for _, it := range srv.Items(toolbox.Tools) {
			all = append(all, json.RawMessage(foreign.JSON(Located(it, false))))
		}
	}
	return all, nil
}
