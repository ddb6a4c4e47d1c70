package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func removeCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "remove NAME…",
		Short: "Take servers out of the configuration",
		Long: `Remove takes servers out of your own configuration, or out of the one that
--config names; a toolbox that has no servers then goes as well. NAME is that of
a server, or TOOLBOX/NAME. Comments and order of the rest stay as they are, and
workbench undo takes it back.`,
		Example: `  workbench remove github
  workbench remove code/github`,
		Args:              between(1, -1),
		ValidArgsFunction: env.offerEach(env.serverNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			var done []string
			err := env.edit(cmd.Context(), func(ed *editing) error {
				for _, meant := range args {
					box, name, err := ed.find(meant)
					if err != nil {
						return err
					}
					last, err := ed.drop(box, name)
					if err != nil {
						return err
					}
					done = append(done, fmt.Sprintf("%s/%s: removed", box, name))
					if last {
						done = append(done, fmt.Sprintf("%s: removed, for it has no servers", box))
					}
				}
				return nil
			})
			return env.told(done, err)
		},
	}
}

// told prints what was done, unless it was not.
func (e *environment) told(lines []string, err error) error {
	if err != nil {
		return err
	}
	for _, line := range lines {
		fmt.Fprintln(e.out, line)
	}
	return nil
}
