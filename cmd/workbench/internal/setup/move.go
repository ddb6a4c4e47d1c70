package setup

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/internal/amend"
	"github.com/mcp-workbench/workbench/internal/clients"
)

func Move(env *cli.Environment) *cobra.Command {
	var description string
	cmd := &cobra.Command{
		Use:   "move NAME TOOLBOX",
		Short: "Move a server into another toolbox",
		Long: `Move moves a server into another toolbox, which is made if it does not exist, in your
own configuration or in the one that --config names. A toolbox without servers is
then removed. NAME is the name of a server, or TOOLBOX/NAME.`,
		Example: `  workbench move github code
  workbench move tools/pg data --description "Query the databases of the shop"`,
		Args:              cli.Between(2, 2),
		ValidArgsFunction: completeMove(env),
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeServers(cmd.Context(), env, args[:1], func(ed *editing, box, name string) ([]string, error) {
				if err := counts(args[1]); err != nil {
					return nil, err
				}
				if box == args[1] {
					return nil, cli.Usage(errors.New("the server is already in that toolbox"))
				}
				if ed.root.Get("toolboxes").Get(args[1]).Get("mcpServers").Get(name) != nil {
					return nil, cli.Hint(fmt.Errorf("there is a server %q in toolbox %q already", name, args[1]), "remove or rename one of the two first")
				}
				if err := ed.makeBox(ed.box(args[1], clients.Kind{}, description)); err != nil {
					return nil, err
				}
				if err := ed.became(amend.Move(ed.data, ed.at("toolboxes", box, "mcpServers", name), ed.at("toolboxes", args[1], "mcpServers", name))); err != nil {
					return nil, err
				}
				return ed.tidy(box, []string{fmt.Sprintf("%s/%s: moved to %s", box, name, args[1])})
			})
		},
	}
	cmd.Flags().StringVar(&description, "description", "", "what a new toolbox is for; the model chooses by it")
	return cmd
}

// completeMove completes a server, and then the toolbox that it goes to.
func completeMove(e *cli.Environment) cli.Completion {
	return func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		var list []string
		switch len(args) {
		case 0:
			list = e.ServerNames()
		case 1:
			list = e.ToolboxNames()
		}
		return slices.DeleteFunc(list, func(one string) bool { return !strings.HasPrefix(one, typed) }), cobra.ShellCompDirectiveNoFileComp
	}
}
