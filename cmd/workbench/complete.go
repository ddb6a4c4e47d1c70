package main

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/toolbox"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

// completion gives what a shell may offer for a word, from what is known without starting anything.
type completion = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective)

// offer makes a completion of the first argument, out of what list gives.
func (e *environment) offer(list func() []string) completion {
	return func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		offered := slices.DeleteFunc(list(), func(one string) bool { return !strings.HasPrefix(one, typed) })
		return offered, cobra.ShellCompDirectiveNoFileComp
	}
}

// offerEach is offer for commands that take any number of the names: those that stand there already are left out.
func (e *environment) offerEach(list func() []string) completion {
	return func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		offered := slices.DeleteFunc(list(), func(one string) bool { return !strings.HasPrefix(one, typed) || slices.Contains(args, one) })
		return offered, cobra.ShellCompDirectiveNoFileComp
	}
}

// offerFlag has a shell complete the values of a flag.
func offerFlag(cmd *cobra.Command, flag string, values completion) {
	_ = cmd.RegisterFlagCompletionFunc(flag, values) // fails for unknown flags alone
}

// quiet has nothing said on standard error, since a shell asks while somebody types, until the result is called.
func (e *environment) quiet() (restore func()) {
	was := e.err
	e.err = io.Discard
	return func() { e.err = was }
}

// mostOffered is how many ids a shell is offered, the latest.
const mostOffered = 200

// keptIDs are the ids of what is kept in the store, if there is one.
func (e *environment) keptIDs(k kept) func() []string {
	return func() (ids []string) {
		defer e.quiet()()
		ctx := context.Background()
		_ = e.withStore(ctx, false, func(s *store.Store) error {
			if k == keptConversations {
				list, err := s.Latest(ctx, "", mostOffered)
				for _, c := range list {
					ids = append(ids, c.ID)
				}
				return err
			}
			list, err := runs.Search(ctx, s, "", "", 0)
			for _, r := range list[:min(len(list), mostOffered)] {
				ids = append(ids, r.ID)
			}
			return err
		})
		return ids
	}
}

// secretNames are those of the secrets that are kept, and that the configuration names.
func (e *environment) secretNames() (names []string) {
	defer e.quiet()()
	cfg, _, err := e.load()
	if err != nil {
		return nil
	}
	for _, s := range e.listSecrets(cfg) {
		names = append(names, s.Name)
	}
	return names
}

// toolboxNames are those of the configuration.
func (e *environment) toolboxNames() (names []string) {
	cfg, _, err := e.loadBy((*config.Source).ParseUsable)
	if err != nil {
		return nil
	}
	for _, t := range cfg.Toolboxes {
		names = append(names, t.Name)
	}
	return names
}

// serverNames are those of the configuration, with their toolboxes.
func (e *environment) serverNames() (names []string) {
	cfg, _, err := e.loadBy((*config.Source).ParseUsable)
	if err != nil {
		return nil
	}
	for _, t := range cfg.Toolboxes {
		for _, s := range t.Servers {
			names = append(names, t.Name+"/"+s.Name)
		}
	}
	return names
}

// itemNames are the full names of what was seen of the servers.
func (e *environment) itemNames(k toolbox.Kind) (names []string) {
	boxes, _, _, err := e.boxes(nil, nil)
	if err != nil {
		return nil
	}
	toolbox.Recall(boxes...)
	for _, b := range boxes {
		for _, s := range b.Servers() {
			for _, it := range s.Items(k) {
				names = append(names, s.Toolbox+"/"+s.Name+"/"+it.Key.String())
			}
		}
	}
	return names
}

// completeMove completes a server, and then the toolbox that it goes to.
func (e *environment) completeMove(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	var list []string
	switch len(args) {
	case 0:
		list = e.serverNames()
	case 1:
		list = e.toolboxNames()
	}
	return slices.DeleteFunc(list, func(one string) bool { return !strings.HasPrefix(one, typed) }), cobra.ShellCompDirectiveNoFileComp
}

// fixed are the values of a flag.
func fixed(values ...string) completion {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return values, cobra.ShellCompDirectiveNoFileComp
	}
}
