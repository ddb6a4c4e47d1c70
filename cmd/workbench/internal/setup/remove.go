package setup

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/internal/document"
)

func Remove(env *cli.Environment) *cobra.Command {
	return &cobra.Command{
		Use:        "remove NAME…",
		SuggestFor: []string{"rm", "delete", "uninstall"},
		Short:      "Remove servers from the configuration",
		Long: `Remove removes servers from your own configuration, or from the one that --config
names. A toolbox without servers is then removed as well. NAME is the name of a
server, or TOOLBOX/NAME. Comments and order of the rest stay as they are, and
workbench undo undoes the change.`,
		Example: `  workbench remove github
  workbench remove code/github`,
		Args:              cli.Between(1, -1),
		ValidArgsFunction: cli.OfferEach(env.ServerNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			var done []string
			err := editFile(cmd.Context(), env, func(ed *editing) error {
				for _, meant := range args {
					box, name, err := ed.find(meant)
					if err != nil {
						return err
					}
					bundle := ed.bundleOf(box, name)
					last, err := ed.drop(box, name)
					if err != nil {
						return err
					}
					done = append(done, fmt.Sprintf("%s/%s: removed", box, name))
					if bundle != "" {
						done = append(done, fmt.Sprintf("its bundle stays in %s, for workbench undo; delete that folder when you are sure", cli.Shown(bundle)))
					}
					if last {
						done = append(done, fmt.Sprintf("%s: removed, because it has no servers", box))
					}
				}
				return nil
			})
			return told(env, done, err)
		},
	}
}

// bundleOf is the folder of the bundle that a server is started from, "" if it is from none.
func (ed *editing) bundleOf(box, name string) string {
	state, err := ed.env.StateDir()
	if err != nil {
		return ""
	}
	entry := ed.root.Get("toolboxes").Get(box).Get("mcpServers").Get(name)
	texts := []*document.Node{entry.Get("command"), entry.Get("cwd")}
	if args := entry.Get("args"); args != nil {
		texts = append(texts, args.Items...)
	}
	all := filepath.Join(state, "bundles") + string(filepath.Separator)
	for _, text := range texts {
		if text == nil {
			continue
		}
		if _, inside, ok := strings.Cut(text.Value, all); ok { // the rest is a path in it
			folder, _, _ := strings.Cut(inside, string(filepath.Separator))
			return all + folder
		}
	}
	return ""
}

// told prints what was done, unless it was not.
func told(e *cli.Environment, lines []string, err error) error {
	if err != nil {
		return err
	}
	for _, line := range lines {
		fmt.Fprintln(e.Out, line)
	}
	return nil
}
