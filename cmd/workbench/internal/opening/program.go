// Package opening has what the commands that work with servers know besides the world: the servers inside this process, and
// toolboxes, which it opens for them.
package opening

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/internal/approval"
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
	// Root makes the root command, by which the page runs commands beside this one.
	Root func(*Environment) *cobra.Command
	// Masks are the secrets that are taken out of what is kept of calls.
	Masks *mask.Set
}

// Beside is an environment for one more command in this process.
func (e *Environment) Beside(out io.Writer) *Environment {
	return &Environment{Environment: e.Environment.Beside(out), Approvals: e.Approvals, Masks: e.Masks}
}
