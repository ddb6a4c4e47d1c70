// Package top has the command that shows on a terminal what workbenches do, as it happens.
//
//	feed ──► model ──► tab: servers, calls, toolboxes, waiting, tools, kept, settings
//	            ├────► form of a tool, which makes a command
//	            └────► output of a command, which a key of a tab has started
package top

import (
	"context"
	"errors"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
)

func Command(env *opening.Environment) *cobra.Command {
	return &cobra.Command{
		Use:   "top",
		Short: "Show on a terminal what workbenches do, as it happens",
		Long: `Top fills the terminal with what every workbench of this user does, as it happens:
its servers, those first that need attention, with the cause and what to do; the
calls that end, each of which can be opened and made again; what the tools of each
toolbox cost a model, in tokens; the calls that wait for a person; the tools, each
with a form to call it; workflows, runs and conversations, to read; and the
configuration, with what is wrong with it.

The keys 1 to 7 or tab choose one of these, the arrows a row, enter opens it, /
looks for words, ? shows all keys, and q ends. What a key does is done by another
command, which is shown above its output.

Top needs a terminal. In a browser workbench ui shows the same, and more.`,
		Example: `  workbench top`,
		Args:    cli.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), env) },
	}
}

// look reads what a tab shows that no workbench tells.
func look(ctx context.Context, env *opening.Environment, tab string) tea.Msg {
	switch tab {
	case new(costs).name():
		return costsOf(env)
	case new(tools).name():
		return toolsOf(ctx, env)
	case new(kept).name():
		return keptOf(ctx, env)
	case new(settings).name():
		return settingsOf(ctx, env)
	}
	return nil
}

// run shows workbenches until the user or ctx ends it.
func run(ctx context.Context, env *opening.Environment) error {
	if !terminal.Is(env.In) || !terminal.Draws(env.Out, env.Lookup) {
		return cli.Hint(errors.New("workbench top needs a terminal, to read keys from and to draw on"),
			"workbench status --watch and workbench calls --follow print lines, and workbench ui serves a page")
	}
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup // commands that run
	defer work.Wait()
	defer cancel()
	m := newModel(env.Paint(env.Out), func(args ...string) *output { return begin(ctx, &work, env, args) }, func(tab string) tea.Msg { return look(ctx, env, tab) })
	p := tea.NewProgram(m, tea.WithInput(env.In), tea.WithOutput(env.Out), tea.WithEnvironment(env.Environ), tea.WithoutSignalHandler())
	defer context.AfterFunc(ctx, p.Quit)()
	defer feed(ctx, env.Environment, p.Send)()
	_, err := p.Run()
	return err
}
