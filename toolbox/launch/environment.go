package launch

import (
	"maps"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/child"
)

// Environment is the whole of what the process of a server gets of ours: a small safe list, what the configuration lets
// through, and what it declares, which prevails. Secrets that were not put in stand there as references.
func Environment(cfg config.Server, ours []string) []string {
	if cfg.InheritEnv.All {
		return declare(ours, cfg.Env)
	}
	values := make(map[string]string, len(ours))
	for _, kv := range ours {
		if name, v, ok := strings.Cut(kv, "="); ok {
			values[child.EnvKey(name)] = v
		}
	}
	lookup := func(name string) (string, bool) { v, ok := values[child.EnvKey(name)]; return v, ok }
	env := child.SafeEnv(lookup)
	for _, name := range cfg.InheritEnv.Names {
		if v, ok := lookup(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return declare(env, cfg.Env)
}

// declare adds what a server's configuration declares to an environment.
func declare(env []string, declarations map[string]string) []string {
	var declared []string
	for _, name := range slices.Sorted(maps.Keys(declarations)) {
		declared = append(declared, name+"="+config.Shown(declarations[name]))
	}
	return child.Declare(env, declared)
}
