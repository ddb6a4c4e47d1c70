package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/nearest"
)

// UnknownToolbox says that there is no toolbox of a name, and which there are.
func UnknownToolbox(cfg *config.Config, name string) error {
	return Advised(cfg.UnknownToolbox(name))
}

// Server finds a server that can be used by its full name, TOOLBOX/SERVER. Where no server has the name, the error
// proposes servers that fit the purpose.
func Server(cfg *config.Config, name string, fit func(*config.Server) bool) (*config.Server, error) {
	box, rest, _ := strings.Cut(name, "/")
	if box == "" || rest == "" {
		return nil, Usage(Hint(fmt.Errorf("%q does not name a server", name), "write TOOLBOX/SERVER"))
	}
	t, ok := cfg.Toolbox(box)
	if !ok {
		return nil, UnknownToolbox(cfg, box)
	}
	server, ok := t.Server(rest)
	if !ok {
		var known []string
		for i := range t.Servers {
			if fit(&t.Servers[i]) {
				known = append(known, t.Servers[i].Name)
			}
		}
		if known == nil {
			return nil, Usage(fmt.Errorf("toolbox %q has no server %q, and none that would do", box, rest))
		}
		hint := nearest.Before(rest, known, "those that it has for this are: "+strings.Join(known, ", "))
		return nil, Usage(Hint(fmt.Errorf("toolbox %q has no server %q", box, rest), hint))
	}
	return server, server.Problem
}

// Advised adds to an error about a toolbox that is not there which there are.
func Advised(err error) error {
	var unknown *config.UnknownToolboxError
	if errors.As(err, &unknown) {
		return Usage(Hint(err, unknown.Hint()))
	}
	return err
}
