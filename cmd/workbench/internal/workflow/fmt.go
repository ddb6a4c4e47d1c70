package workflow

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/shellword"
	"github.com/mcp-workbench/workbench/workflowsrv/author"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

func workflowFmtCommand(env *opening.Environment) *cobra.Command {
	var check bool
	cmd := &cobra.Command{
		Use:   "fmt FILE|DIR...",
		Short: "Format workflow files",
		Long: `Fmt writes workflow files again with two spaces for each level, and names the changed
ones. Keys keep their order, and YAML comments stay. With --check it changes nothing,
and the exit code is 1 if a file would change.`,
		Example: `  workbench workflow fmt workflows
  workbench workflow fmt --check workflows/*.json`,
		Args: needs(1, -1, "a file"),
		RunE: func(_ *cobra.Command, args []string) error {
			files, err := workflowFiles(args)
			if err != nil {
				return err
			}
			changed := 0
			for _, file := range files {
				differs, err := formatFile(file, check)
				if err != nil {
					return err
				}
				if differs {
					changed++
					fmt.Fprintln(env.Out, file)
				}
			}
			if check && changed > 0 {
				return cli.SilentError(cli.ExitFault)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "only name the files that would change")
	return cmd
}

// formatFile reports whether a file has another layout, and gives it this one.
func formatFile(file string, check bool) (differs bool, err error) {
	data, info, err := openfile.Read(file, definition.MaxFileSize)
	if err != nil {
		return false, err
	}
	ext := strings.ToLower(filepath.Ext(file))
	text, err := author.Format(ext == ".yaml" || ext == ".yml", data)
	if err != nil {
		return false, cli.Hint(fmt.Errorf("%s: %w", file, err), "nothing was changed; workbench workflow validate "+shellword.Word(file)+
			" says where the file has mistakes, if it has any")
	}
	if bytes.Equal(text, data) {
		return false, nil
	}
	if check {
		return true, nil
	}
	// A link stays one, and the mode is that of the file.
	if file, err = filepath.EvalSymlinks(file); err != nil {
		return false, err
	}
	return true, openfile.Write(file, func(f *os.File) error {
		_, err := f.Write(text)
		return errors.Join(err, f.Chmod(info.Mode().Perm()))
	})
}
