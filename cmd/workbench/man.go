package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/internal/openfile"
)

func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man FOLDER",
		Short: "Write the manual pages into a folder",
		Long: `Man writes a manual page for each command into the folder, which is made if it does
not exist. Packages put these pages into /usr/share/man/man1.`,
		Example: `  workbench man ~/.local/share/man/man1 && man workbench-serve`,
		Args:    cli.Between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := openfile.MakeFolder(args[0], 0o755); err != nil {
				return err
			}
			return manPages(cmd.Root(), args[0])
		},
	}
}

// manPages writes the manual page of a command and those below it.
func manPages(cmd *cobra.Command, folder string) error {
	cmd.DisableAutoGenTag = true // it has the day, and pages are to be the same for the same program
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
	fault := openfile.Write(filepath.Join(folder, name), func(f *os.File) error {
		header := doc.GenManHeader{Section: "1", Source: "workbench " + cli.Version(), Manual: "Workbench"}
		return errors.Join(doc.GenMan(cmd, &header, f), f.Chmod(0o644))
	})
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && fault == nil {
			fault = manPages(sub, folder)
		}
	}
	return fault
}
