package workflow

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/faults"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

func workflowValidateCommand(env *opening.Environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "validate FILE|DIR...",
		Short: "Check workflow files",
		Long: `Validate checks workflow files in JSON or YAML and prints every fault with its line
and column, and then warnings. For a directory it checks the workflow files in it.
"-" is standard input. The exit code is 1 if any file is not valid.`,
		Example: `  workbench workflow validate my-workflow.json
  workbench workflow validate workflows/*.yaml --json`,
		Args: needs(1, -1, "a file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return validateFiles(cmd.Context(), env, args, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array with the verdict of each file")
	return cmd
}

// A verdict is what was found in one file.
type verdict struct {
	File     string             `json:"file"`
	Valid    bool               `json:"valid"`
	ID       string             `json:"id,omitempty"`
	Faults   []definition.Fault `json:"faults"`
	Warnings []definition.Fault `json:"warnings"`
}

func validateFiles(ctx context.Context, env *opening.Environment, names []string, asJSON bool) error {
	files, err := workflowFiles(names)
	if err != nil {
		return err
	}
	routines, err := routinesFor(env, files)
	if err != nil {
		return err
	}
	verdicts := make([]verdict, len(files))
	invalid := 0
	for i, file := range files {
		verdicts[i] = validateFile(ctx, env, routines, file)
		if !verdicts[i].Valid {
			invalid++
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if asJSON {
		if err := terminal.PrintJSON(env.Out, verdicts); err != nil {
			return err
		}
	} else {
		printVerdicts(env.Out, verdicts, invalid)
	}
	if invalid > 0 {
		return cli.SilentError(cli.ExitFault)
	}
	return nil
}

func validateFile(ctx context.Context, env *opening.Environment, routines func([]byte) definition.Routines, file string) verdict {
	v := verdict{File: file, Faults: []definition.Fault{}, Warnings: []definition.Fault{}}
	var data []byte
	var err error
	if file == "-" {
		data, err = io.ReadAll(io.LimitReader(env.Input(ctx), definition.MaxFileSize+1))
	} else {
		data, _, err = openfile.Read(file, definition.MaxFileSize)
	}
	if err != nil {
		v.Faults = append(v.Faults, definition.Fault{Message: openfile.Reason(err)})
		return v
	}
	w, err := definition.ParseWith(file, data, routines(data))
	var bad *definition.Error
	if errors.As(err, &bad) {
		v.ID, v.Faults = bad.ID, bad.Faults
		return v
	}
	v.Valid, v.ID = true, w.ID
	v.Warnings = append(v.Warnings, w.Warnings...)
	return v
}

func printVerdicts(out io.Writer, verdicts []verdict, invalid int) {
	for _, v := range verdicts {
		for _, f := range v.Faults {
			fmt.Fprintf(out, "%s: %s\n", faults.At(v.File, f), faults.Body(f))
		}
		for _, f := range v.Warnings {
			fmt.Fprintf(out, "%s: warning: %s\n", faults.At(v.File, f), faults.Body(f))
		}
		if v.Valid {
			fmt.Fprintf(out, "%s: valid, workflow %s\n", cli.Shown(v.File), v.ID)
		} else {
			fmt.Fprintf(out, "%s: not valid, %s\n", cli.Shown(v.File), terminal.Count(len(v.Faults), "fault"))
		}
	}
	if len(verdicts) > 1 {
		fmt.Fprintf(out, "%s, %d not valid\n", terminal.Count(len(verdicts), "file"), invalid)
	}
}

func workflowSchemaCommand(env *opening.Environment) *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON Schema of workflow files",
		Long:    "Schema prints the JSON Schema (draft-07) of workflow files, for editors and other programs.",
		Example: "  workbench workflow schema > workflow.schema.json",
		Args:    cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := env.Out.Write(definition.Schema())
			return err
		},
	}
}
