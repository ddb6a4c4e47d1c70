package config

import (
	"net"
	"strconv"

	"github.com/mcp-workbench/workbench/internal/document"
)

// Sandbox says what a stdio server may do. The zero value sets no bounds.
type Sandbox struct {
	Preset  SandboxPreset `key:"preset" enum:"workspace,strict"`
	Read    []string      `key:"read"`    // absolute paths of what it may read besides
	Write   []string      `key:"write"`   // absolute paths of what it may change besides
	Network Network       `key:"network"` // what it may reach
	// BestEffort has the server started where the system cannot enforce all of it.
	BestEffort bool `key:"bestEffort"`
}

// SandboxPreset is what a sandbox begins with. The zero value is no sandbox.
type SandboxPreset string

// The presets. Both let a program read what it needs for running, and give it a home and temporary files of its own.
const (
	SandboxWorkspace SandboxPreset = "workspace" // it may change its working directory, and use the network unless Network says otherwise
	SandboxStrict    SandboxPreset = "strict"    // no more
)

// Network is what a server may reach: all, the destinations, or (the zero value) nothing.
type Network struct {
	All bool
	To  []string // "host:port"; a host is * for all
}

// readSandbox reads a preset, or an object.
func readSandbox(o *object) (s Sandbox) {
	preset, in := o.choiceOrObject("sandbox", string(SandboxWorkspace), string(SandboxStrict))
	if in == nil {
		s.Preset = SandboxPreset(preset)
		s.Network.All = s.Preset == SandboxWorkspace
		return s
	}
	s.Preset = SandboxStrict
	in.fill(&s, "preset")
	s.Read = readPlaces(in, "read")
	s.Write = readPlaces(in, "write")
	s.Network.All = s.Preset == SandboxWorkspace
	if n, path, ok := in.take("network"); ok {
		s.Network = o.c.network(n, path)
	}
	in.fill(&s, "bestEffort")
	in.done(func(key string) string {
		if key == "env" {
			return `choose the variables of a server with "env" and "inheritEnv" beside "sandbox"`
		}
		return ""
	})
	return s
}

// readPlaces reads an array of paths.
func readPlaces(o *object, key string) []string {
	var paths []string
	for _, v := range o.list(key, false) {
		paths = append(paths, o.c.place(v))
	}
	return paths
}

func (c *checker) network(n *document.Node, path string) (to Network) {
	switch n.Kind {
	case document.Boolean:
		return Network{All: n.Value == "true"}
	case document.Array:
		for _, v := range c.list(n, path, false) {
			_, port, err := net.SplitHostPort(v.text)
			if number, numErr := strconv.ParseUint(port, 10, 16); err != nil || numErr != nil || number == 0 {
				c.reject(v, `want "host:port"`, `such as "*:443"`)
			}
			to.To = append(to.To, v.text)
		}
		return to
	}
	c.fault(position{n.Line, n.Column}, path, `want true, false or an array of "host:port", got `+got(n, false), "")
	return to
}
