package config

import (
	"fmt"
	"strings"

	"github.com/mcp-workbench/workbench/internal/nearest"
)

// An UnknownToolboxError says that a configuration has no toolbox of that name.
type UnknownToolboxError struct {
	Name    string
	Known   []string // the toolboxes that there are
	BuiltIn bool     // no configuration file is in use
}

// UnknownToolbox returns the error for a name that no toolbox has.
func (c *Config) UnknownToolbox(name string) error {
	return &UnknownToolboxError{Name: name, Known: c.ToolboxNames(), BuiltIn: c.Path == ""}
}

func (e *UnknownToolboxError) Error() string { return fmt.Sprintf("there is no toolbox %q", e.Name) }

// Hint says which toolbox may be meant.
func (e *UnknownToolboxError) Hint() string {
	known := strings.Join(e.Known, ", ")
	if e.BuiltIn {
		known += " (no configuration file is in use; --config names one)"
	}
	if meant := nearest.Hint(e.Name, e.Known, ""); meant != "" {
		return meant + " The toolboxes are: " + known
	}
	if len(e.Known) == 0 {
		return "the configuration has none"
	}
	return "the toolboxes are: " + known
}
