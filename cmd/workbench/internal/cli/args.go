package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/nearest"
)

func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !cmd.HasSubCommands() {
		return Usage(Hint(fmt.Errorf("%s takes no arguments, got %q", cmd.Name(), args[0]), cmd.CommandPath()+" --help says what it takes"))
	}
	err := fmt.Errorf("unknown command %q", args[0])
	var known, meant []string
	for _, c := range cmd.Commands() {
		known = append(known, c.Name())
		if slices.Contains(c.SuggestFor, args[0]) {
			meant = append(meant, c.Name())
		}
	}
	if near := slices.Concat(meant, nearest.Names(args[0], known, 1)); near != nil {
		return Usage(Hint(err, fmt.Sprintf("did you mean %q? %s --help lists the commands", near[0], cmd.CommandPath())))
	}
	return Usage(Hint(err, cmd.CommandPath()+" --help says what it takes"))
}

// Between wants from least to most arguments; most < 0 is any number.
func Between(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= least && (most < 0 || len(args) <= most) {
			return nil
		}
		err := fmt.Errorf("%s: got %s", cmd.Name(), terminal.Count(len(args), "argument"))
		return Usage(Hint(err, "it is called as: "+cmd.UseLine()))
	}
}
