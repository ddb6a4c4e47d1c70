package config

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/mcp-workbench/workbench/internal/document"
	"github.com/mcp-workbench/workbench/internal/lock"
	"github.com/mcp-workbench/workbench/internal/openfile"
)

// pin gives each server what the lock file beside the configuration has of it.
func (c *Config) pin() {
	var source *lock.Source
	path, mode := "", lock.Off
	if !openfile.HandedOver(c.Path) {
		path = lock.Beside(c.Path)
		if source = lock.Open(path); source != nil {
			mode = lock.Warn
		}
	}
	for t, s := range c.Servers() {
		if s.Transport == TransportBuiltin {
			continue // it is this program
		}
		s.Pins = lock.Pins{Mode: cmp.Or(t.Pins, mode), ID: lock.ID{Toolbox: t.Name, Server: s.Name}, Path: path, Source: source}
		if source == nil && s.Pins.Mode == lock.Warn {
			s.Pins.Mode = lock.Off
		}
	}
}

// written gives the Written of a server.
func written(o *object) json.RawMessage {
	start := make(map[string]any)
	for _, key := range []string{"transport", "type", "command", "args", "cwd", "inheritEnv", "url", "builtin", "workflows", "commands"} {
		if m, ok := o.members[key]; ok {
			start[key] = plain(m.Value)
		}
	}
	for _, key := range []string{"env", "headers"} {
		m, ok := o.members[key]
		if !ok || len(m.Value.Members) == 0 {
			continue
		}
		var names []string
		for _, one := range m.Value.Members {
			names = append(names, one.Key)
		}
		slices.Sort(names)
		start[key] = names
	}
	raw, err := json.Marshal(start)
	if err != nil {
		panic("config: strings and lists of strings cannot be encoded: " + err.Error())
	}
	return raw
}

// plain gives a value of the file as it is written.
func plain(n *document.Node) any {
	switch n.Kind {
	case document.Array:
		all := make([]any, 0, len(n.Items))
		for _, it := range n.Items {
			all = append(all, plain(it))
		}
		return all
	case document.Boolean:
		return n.Value == "true"
	}
	return n.Value
}
