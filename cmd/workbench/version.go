package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
)

func versionCommand(env *cli.Environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  workbench version\n  workbench version --json",
		Args:    cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return terminal.PrintJSON(env.Out, struct {
					Version  string `json:"version"`
					Go       string `json:"go"`
					Platform string `json:"platform"`
				}{cli.Version(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH})
			}
			_, err := fmt.Fprint(env.Out, cli.VersionLine())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON document")
	return cmd
}
