// Package tools has the commands that list, find and use what servers offer: tools, prompts and resources.
package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/shellword"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

func Command(env *opening.Environment) *cobra.Command {
	var asJSON, offline bool
	cmd := &cobra.Command{
		Use:   "tools [TOOLBOX | TOOLBOX/SERVER/TOOL]",
		Short: "Open toolboxes and list their tools, or describe one",
		Long: `Tools opens one toolbox, or all, waits until each server has started or failed
(timeouts.start), prints what they offer and stops them again. The exit code is 1 if
a server could not be started, or if its toolFilters leave none of its tools. If you
name one tool, as for call, it prints what the tool does and takes.

With --offline nothing is started: tools prints what workbench saw when a server last
ran, and SEEN says when that was. The exit code is 1 if a server was never seen.`,
		Example: `  workbench tools
  workbench tools workflows --json
  workbench tools workflows/workflow/workflow_start
  workbench tools --offline`,
		Args: cli.Between(0, 1),
		ValidArgsFunction: cli.Offer(func() []string {
			return append(env.ToolboxNames(), env.ItemNames(toolbox.Tools)...)
		}),
		RunE: func(cmd *cobra.Command, args []string) error {
			return listTools(cmd.Context(), env, args, asJSON, offline)
		},
	}
	cmd.Flags().BoolVar(&offline, "offline", false, "start nothing: print what was last seen, and how old that is")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON array with the tools as their servers define them")
	return cmd
}

func listTools(ctx context.Context, env *opening.Environment, names []string, asJSON, offline bool) error {
	if len(names) == 1 && isTool(env, names[0]) {
		return showTool(ctx, env, names[0], asJSON, offline)
	}
	get := env.OpenBoxes
	if offline {
		get = env.RecallBoxes
	}
	boxes, closeAll, err := get(ctx, nil, names...)
	if err != nil {
		return err
	}
	defer closeAll()
	list := toolList{seen: offline, servers: opening.Servers(boxes)}
	failed, enabled := false, false
	for _, s := range list.servers {
		if err := opening.Missing(s, offline); err != nil {
			failed = true
			env.Fault(err.Error())
		}
		if n := len(s.Held(toolbox.Tools)); n > 0 {
			env.Warn(fmt.Sprintf("server %q of toolbox %q: %s held back; workbench lock --diff %s says why", s.Name, s.Toolbox, terminal.CountVerb(n, "tool is", "tools are"), shellword.Word(s.Toolbox)))
		}
		enabled = enabled || s.Status().State != toolbox.Disabled
	}
	if !enabled {
		env.Warn("there is no server that is not disabled\nworkbench: hint: workbench enable TOOLBOX/SERVER enables one")
	}
	if err := list.print(env, asJSON); err != nil {
		return err
	}
	if failed {
		return cli.SilentError(cli.ExitFault)
	}
	return nil
}

// toolList is what is printed of the tools of servers.
type toolList struct {
	seen    bool // it says when they were seen
	servers []*toolbox.Server
}

// print prints a table, or one JSON array.
func (l *toolList) print(env *opening.Environment, asJSON bool) error {
	if asJSON {
		all := []json.RawMessage{}
		for _, s := range l.servers {
			for _, it := range s.Items(toolbox.Tools) {
				all = append(all, opening.Located(it, l.seen))
			}
		}
		return printAll(env, all)
	}
	t := terminal.Table{Most: terminal.PlainText, Head: []string{"TOOLBOX", "SERVER", "TOOL", "DESCRIPTION"}}
	if l.seen {
		t.Head = slices.Insert(t.Head, 3, "SEEN")
	}
	for _, s := range l.servers {
		for _, it := range s.Items(toolbox.Tools) {
			row := []string{s.Toolbox, s.Name, it.Key.String(), summary(it)}
			if l.seen {
				row = slices.Insert(row, 3, s.Status().LastSeen())
			}
			t.Add(row...)
		}
	}
	return env.Print(&t)
}

// summary is the first line of a tool's description.
func summary(it toolbox.Item) string {
	text, _ := wire.Text(it.Raw, wire.Whole(it.Raw), "description")
	line, _, _ := strings.Cut(foreign.NewLines(strings.TrimSpace(text)).String(), "\n")
	return line
}
