package cli

import (
	"maps"
	"slices"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/clients"
)

// Needs are the variables that the configuration wants of the environment, sorted, without those that every client gives
// to the programs that it starts (the list of the official SDKs). A configuration that cannot be read wants none.
func (e *Environment) Needs() (all []clients.Need) {
	names := make(map[string]bool)
	cfg, _, err := e.LoadBy(func(src *config.Source, lookup func(string) (string, bool)) (*config.Config, error) {
		return src.ParseUsable(func(name string) (string, bool) {
			names[name] = true
			return lookup(name)
		})
	})
	if err == nil {
		for _, s := range cfg.Servers() {
			for _, name := range s.InheritEnv.Names {
				names[name] = true
			}
		}
	}
	for _, name := range []string{"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"} {
		delete(names, name)
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		_, set := e.Lookup(name)
		all = append(all, clients.Need{Name: name, Set: set})
	}
	return all
}
