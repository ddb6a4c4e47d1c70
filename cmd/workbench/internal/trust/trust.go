// Package trust has the commands by which a person says which configurations of projects are used.
package trust

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/foreign"
)

func Command(env *cli.Environment) *cobra.Command {
	var list, yes, asJSON bool
	cmd := &cobra.Command{
		Use:   "trust [DIR]",
		Short: "Trust the configuration of a project",
		Long: `Trust shows what the workbench-config.json of a project would start, reach and read.
If you agree, workbench uses the file from then on. Before that it uses nothing of it:
a file that was only found, in the folder where a client happens to start or above it
up to the root of the repository, may be from anybody. A file that you name with
--config or WORKBENCH_CONFIG, and your own below ~/.config, need no trust.

You trust the present content at the present place. If the file is changed or moved,
workbench asks again and shows what has changed.`,
		Example: `  workbench trust              # the project of this folder
  workbench trust ~/src/app
  workbench trust --list`,
		Args: cli.Between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case asJSON && !list:
				return cli.Usage(cli.Hint(errors.New("--json is for --list"), "workbench trust --list --json"))
			case list && len(args) > 0:
				return cli.Usage(cli.Hint(errors.New("--list shows all that is trusted"), "leave out DIR"))
			case list:
				return listTrusted(env, asJSON)
			}
			return trustProject(cmd.Context(), env, folderOf(args), yes)
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, "list the files that are trusted")
	cmd.Flags().BoolVar(&asJSON, "json", false, "with --list: print one JSON array")
	cmd.Flags().BoolVar(&yes, "yes", false, "agree without being asked, after you have read the file")
	return cmd
}

func Untrust(env *cli.Environment) *cobra.Command {
	return &cobra.Command{
		Use:   "untrust [DIR]",
		Short: "Stop trusting the configuration of a project",
		Long: `Untrust undoes workbench trust. A running workbench ends the project's servers at
once.`,
		Example: `  workbench untrust
  workbench untrust ~/src/app`,
		Args: cli.Between(0, 1),
		RunE: func(_ *cobra.Command, args []string) error { return untrustProject(env, folderOf(args)) },
	}
}

func folderOf(args []string) string {
	if len(args) == 0 {
		return "."
	}
	return args[0]
}

// projectFile gives the path of the file that is found in a folder or above it, or that is named itself.
func projectFile(named string) (path string, searched []string, err error) {
	dir, err := cli.Abs(named)
	if err != nil {
		return "", nil, err
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		if filepath.Base(dir) != config.FileName {
			return "", nil, cli.Usage(cli.Hint(fmt.Errorf("%s is not the folder of a project", named),
				"a project's file is called "+config.FileName+"; one of another name is used with --config, and needs no trust"))
		}
		dir = filepath.Dir(dir)
	}
	path, searched = config.FindProject(dir)
	return path, searched, nil
}

func trustProject(ctx context.Context, env *cli.Environment, named string, yes bool) error {
	if _, err := os.Stat(named); err != nil { // else the project above a mistyped name would be meant
		return cli.Usage(cli.Hint(err, "name the folder of the project"))
	}
	path, searched, err := projectFile(named)
	switch {
	case err != nil:
		return err
	case path == "":
		return cli.Hint(fmt.Errorf("there is no configuration to trust (looked for %s)", strings.Join(searched, ", ")), "name the folder of the project")
	}
	store, err := cli.TrustStore(env)
	if err != nil {
		return err
	}
	src, entry, why := cli.Judge(env, path)
	if why == "" {
		fmt.Fprintf(env.Out, "%s is trusted as it is, since %s\n", cli.Shown(path), terminal.Day(entry.Since))
		return nil
	}
	if src == nil {
		return fmt.Errorf("%s cannot be trusted: %s", cli.Shown(path), why)
	}
	u := cli.Describe(path, src, entry, why)
	if _, err := src.ParseUsable(env.Lookup); err != nil {
		return cli.Hint(fmt.Errorf("%s cannot be trusted before its faults are corrected: %w", cli.Shown(path), err), "workbench check lists all faults")
	}
	fmt.Fprintf(env.Out, "%s\n%s", cli.Shown(path), explained(u))
	if !yes {
		if err := env.Agreed(ctx, "Use it?"); err != nil {
			return err
		}
	}
	if err := cli.KeepTrust(store, u); err != nil {
		return err
	}
	fmt.Fprintln(env.Out, "trusted, as long as it is not changed")
	return nil
}

// explained is what a person is shown of a file before deciding.
func explained(u *config.Untrusted) string {
	lines, what := u.Shown, "what it makes workbench start, reach and read:"
	if u.Changes != nil {
		lines, what = u.Changes, "it was changed since it was trusted; - is what is gone, + what is new:"
	} else if strings.HasPrefix(u.Why, "it was changed") {
		what = "it was changed since it was trusted, but not in what is shown here:"
	}
	if len(lines) == 0 {
		lines = []string{"nothing"}
	}
	return what + "\n  " + strings.Join(lines, "\n  ") + "\n"
}

func untrustProject(env *cli.Environment, named string) error {
	store, err := cli.TrustStore(env)
	if err != nil {
		return err
	}
	path, searched, err := projectFile(named)
	if err != nil {
		return err
	}
	if path == "" { // what is gone may still be trusted
		path = searched[0]
	}
	_, trusted, err := store.Get(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		env.Warn(err.Error())
	}
	if err == nil && !trusted {
		return cli.Hint(fmt.Errorf("%s is not trusted", cli.Shown(path)), "workbench trust --list shows what is")
	}
	if _, err := store.Remove(path); err != nil {
		return err
	}
	fmt.Fprintf(env.Out, "%s is no longer used\n", cli.Shown(path))
	return nil
}

// trustedFile is a file that is trusted, as JSON.
type trustedFile struct {
	Path  string    `json:"path"`
	Since time.Time `json:"since"`
	Used  bool      `json:"used"`          // it is as it was then
	Why   string    `json:"why,omitempty"` // it is not used
}

func listTrusted(env *cli.Environment, asJSON bool) error {
	store, err := cli.TrustStore(env)
	if err != nil {
		return err
	}
	all, err := store.List()
	list := []trustedFile{}
	for _, e := range all {
		state := "as it is"
		_, now, why := cli.Judge(env, e.Path)
		if asJSON {
			list = append(list, trustedFile{e.Path, e.Since, why == "", why})
			continue
		}
		switch {
		case why != "" && now.Digest != "":
			state = "not as it is now: " + why
		case why != "":
			state = why
		}
		fmt.Fprintf(env.Out, "%s  %s  %s\n", terminal.Day(e.Since), cli.Shown(e.Path), foreign.NewText(state))
	}
	if asJSON {
		err = errors.Join(err, terminal.PrintJSON(env.Out, list))
	}
	return err
}
