// Package commands has the group of commands that make, check, try and serve command workflows.
package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/faults"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/host/commandhost"
	"github.com/mcp-workbench/workbench/host/toolcaller"
	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/toolbox"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// Command is the group. serving gives a command the flags that say how it serves.
func Command(env *opening.Environment, serving func(*pflag.FlagSet) Serving) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "commands",
		Short: "Make, check, try and serve command workflows",
		Long: `A command workflow is a folder of YAML files that turns tools into an application:
contexts are kinds of places, and commands are what can be done there.`,
		Example: `  workbench commands new notes --from toolbox:dev
  workbench commands check notes
  workbench commands chat notes
  workbench commands serve example --http 127.0.0.1:7777`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newCommand(env), checkCommand(env), chatCommand(env), testCommand(env), serveCommand(env, serving))
	return cmd
}

func checkCommand(env *opening.Environment) *cobra.Command {
	var asJSON, offline bool
	cmd := &cobra.Command{
		Use:   "check DIR",
		Short: "Check the folder of a command workflow",
		Long: `Check reads the folder of a command workflow and prints every fault with file,
line and column, and then warnings. It compares the commands with the tools that
they call: it opens the toolboxes that the folder mentions, as the configuration
has them, and closes them again.

With --offline nothing is started: check uses the tools that workbench saw when a
server last ran. The exit code is 1 if the folder is not valid, or if the tools of
a server that it needs are not known.`,
		Example: `  workbench commands check ./orders
  workbench commands check ./orders --offline --json`,
		Args: cli.Between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return checkCommands(cmd.Context(), env, args[0], offline, asJSON)
		},
	}
	cmd.Flags().BoolVar(&offline, "offline", false, "start nothing: check against the tools that were last seen")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the verdict as one JSON object")
	return cmd
}

// A folderVerdict is what was found in the folder of a command workflow.
type folderVerdict struct {
	Folder   string          `json:"folder"`
	Valid    bool            `json:"valid"`
	Name     string          `json:"name,omitempty"`
	Contexts int             `json:"contexts"`
	Commands int             `json:"commands"`
	Faults   []command.Fault `json:"faults"`
	Warnings []command.Fault `json:"warnings"`
	// Unknown says which servers could not be asked for their tools, and why.
	Unknown []string `json:"unknown"`
}

func checkCommands(ctx context.Context, env *opening.Environment, dir string, offline, asJSON bool) error {
	root, err := commandhost.OpenFolder(dir)
	if err != nil {
		why := openfile.Reason(err)
		if errors.Is(err, fs.ErrNotExist) {
			why = "there is no such folder"
		}
		return cli.Hint(fmt.Errorf("%s: %s", dir, why), "name the folder that holds workflow.yaml")
	}
	defer root.Close()
	v := folderVerdict{Folder: dir, Faults: []command.Fault{}, Warnings: []command.Fault{}, Unknown: []string{}}
	opts, err := knownTools(ctx, env, root, offline, &v)
	if err != nil {
		return err
	}
	w, err := command.Load(root.FS(), opts)
	var bad *command.FolderError
	switch {
	case errors.As(err, &bad):
		v.Faults = bad.Faults
		v.Warnings = append(v.Warnings, bad.Warnings...)
	case err != nil:
		return err
	default:
		v.Valid, v.Name, v.Contexts, v.Commands = true, w.Name, len(w.Contexts), len(w.Commands)
		v.Warnings = append(v.Warnings, w.Warnings...)
	}
	for _, why := range v.Unknown {
		env.Fault(why)
	}
	if asJSON {
		if err := terminal.PrintJSON(env.Out, v); err != nil {
			return err
		}
	} else {
		v.print(env.Out)
	}
	if !v.Valid || len(v.Unknown) > 0 {
		return cli.SilentError(cli.ExitFault)
	}
	return nil
}

// knownTools gives the tools of the toolboxes that a folder mentions. A server that does not tell its own is noted in
// the verdict.
func knownTools(ctx context.Context, e *opening.Environment, folder *commandhost.Folder, offline bool, v *folderVerdict) (command.LoadOptions, error) {
	opts := folder.Options()
	opts.Tools, opts.LookupEnv, opts.LookPath = []command.Tool{}, e.Lookup, exec.LookPath
	cfg, _, err := e.Load()
	if err != nil {
		return opts, err
	}
	wanted := command.Toolboxes(folder.FS(), opts)
	var names []string
	for _, t := range cfg.Toolboxes {
		if slices.Contains(wanted, t.Name) {
			names = append(names, t.Name)
			continue
		}
		for _, s := range t.Servers { // so that a mistyped name can be told
			opts.Unlisted = append(opts.Unlisted, t.Name+"/"+s.Name)
		}
	}
	if len(names) == 0 {
		return opts, nil
	}
	get := e.OpenBoxes
	if offline {
		get = e.RecallBoxes
	}
	boxes, closeAll, err := get(ctx, toolcaller.WithoutCommands, names...)
	if err != nil {
		return opts, err
	}
	defer closeAll()
	for _, s := range opening.Servers(boxes) {
		err := opening.Missing(s, offline)
		if st := s.Status(); st.State == toolbox.Disabled {
			err = &toolbox.UnavailableError{Toolbox: s.Toolbox, Server: s.Name, Status: st}
		}
		if err != nil {
			v.Unknown = append(v.Unknown, err.Error())
			opts.Unlisted = append(opts.Unlisted, s.Toolbox+"/"+s.Name)
			continue
		}
		for _, it := range s.Items(toolbox.Tools) {
			opts.Tools = append(opts.Tools, command.Tool{Toolbox: s.Toolbox, Server: s.Name, Raw: it.Raw})
		}
	}
	return opts, nil
}

func (v folderVerdict) print(out io.Writer) {
	for _, f := range v.Faults {
		fmt.Fprintf(out, "%s: %s\n", faults.At(v.path(f), f.Fault), faults.Body(f.Fault))
	}
	for _, f := range v.Warnings {
		fmt.Fprintf(out, "%s: warning: %s\n", faults.At(v.path(f), f.Fault), faults.Body(f.Fault))
	}
	if !v.Valid {
		fmt.Fprintf(out, "%s: not valid, %s\n", cli.Shown(v.Folder), terminal.Count(len(v.Faults), "fault"))
		return
	}
	fmt.Fprintf(out, "%s: valid, %s: %s, %s\n", cli.Shown(v.Folder), v.Name, terminal.Count(v.Commands, "command"), terminal.Count(v.Contexts, "context"))
}

// path is the file of a fault as it is found from here.
func (v folderVerdict) path(f command.Fault) string {
	return filepath.Join(v.Folder, filepath.FromSlash(f.File))
}
