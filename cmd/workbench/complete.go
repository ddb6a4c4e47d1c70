package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/toolbox"
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

// fixed are the values of a flag.
func fixed(values ...string) completion {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return values, cobra.ShellCompDirectiveNoFileComp
	}
}
