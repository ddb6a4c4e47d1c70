package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/config"
)

// Completion gives what a shell may offer for a word, from what is known without starting anything.
type Completion = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective)

// Offer makes a completion of the first argument, out of what list gives.
func Offer(list func() []string) Completion {
	return func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		offered := slices.DeleteFunc(list(), func(one string) bool { return !strings.HasPrefix(one, typed) })
		return offered, cobra.ShellCompDirectiveNoFileComp
	}
}

// OfferEach is offer for commands that take any number of the names: those that stand there already are left out.
func OfferEach(list func() []string) Completion {
	return func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		offered := slices.DeleteFunc(list(), func(one string) bool { return !strings.HasPrefix(one, typed) || slices.Contains(args, one) })
		return offered, cobra.ShellCompDirectiveNoFileComp
	}
}

// OfferFlag has a shell complete the values of a flag.
func OfferFlag(cmd *cobra.Command, flag string, values Completion) {
	_ = cmd.RegisterFlagCompletionFunc(flag, values) // fails for unknown flags alone
}

// Quiet has nothing said on standard error, since a shell asks while somebody types, until the result is called.
func (e *Environment) Quiet() (restore func()) {
	was := e.Err
	e.Err = io.Discard
	return func() { e.Err = was }
}

// ToolboxNames are those of the configuration.
func (e *Environment) ToolboxNames() []string {
	cfg, _, err := e.LoadBy((*config.Source).ParseUsable)
	if err != nil {
		return nil
	}
	return cfg.ToolboxNames()
}

// ServerNames are those of the configuration, with their toolboxes.
func (e *Environment) ServerNames() (names []string) {
	cfg, _, err := e.LoadBy((*config.Source).ParseUsable)
	if err != nil {
		return nil
	}
	for t, s := range cfg.Servers() {
		names = append(names, t.Name+"/"+s.Name)
	}
	return names
}

// Fixed are the values of a flag.
func Fixed(values ...string) Completion {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return values, cobra.ShellCompDirectiveNoFileComp
	}
}
