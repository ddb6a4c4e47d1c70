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
	"github.com/mcp-workbench/workbench/internal/document"
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
			var done []string
			err := editFile(cmd.Context(), env, func(ed *editing) error {
				box, name, err := ed.find(args[0])
				if err != nil {
					return err
				}
				if err := counts(args[1]); err != nil {
					return err
				}
				if box == args[1] {
					return cli.Usage(errors.New("the server is already in that toolbox"))
				}
				if ed.root.Get("toolboxes").Get(args[1]).Get("mcpServers").Get(name) != nil {
					return cli.Hint(fmt.Errorf("there is a server %q in toolbox %q already", name, args[1]), "remove or rename one of the two first")
				}
				to := ed.box(args[1], clients.Kind{}, description)
				if ed.root.Get("toolboxes").Get(args[1]) == nil {
					text := document.Node{Kind: document.Text, Value: to.Description}
					if err := ed.set(text.AppendJSON(nil), "toolboxes", args[1], "description"); err != nil {
						return err
					}
				}
				if err := ed.became(amend.Move(ed.data, ed.at("toolboxes", box, "mcpServers", name), ed.at("toolboxes", args[1], "mcpServers", name))); err != nil {
					return err
				}
				done = append(done, fmt.Sprintf("%s/%s: moved to %s", box, name, args[1]))
				last, err := ed.tidy(box)
				if last {
					done = append(done, fmt.Sprintf("%s: removed, because it has no servers", box))
				}
				return err
			})
			return told(env, done, err)
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
