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
			return changeServers(cmd.Context(), env, args, func(ed *editing, box, name string) ([]string, error) {
				done := []string{fmt.Sprintf("%s/%s: removed", box, name)}
				if bundle := ed.bundleOf(box, name); bundle != "" {
					done = append(done, fmt.Sprintf("its bundle stays in %s, for workbench undo; delete that folder when you are sure", cli.Shown(bundle)))
				}
				if err := ed.remove("toolboxes", box, "mcpServers", name); err != nil {
					return nil, err
				}
				return ed.tidy(box, done)
			})
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
