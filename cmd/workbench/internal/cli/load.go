package cli

import (
	"fmt"

	"github.com/mcp-workbench/workbench/config"
)

// Load reads the configuration that applies, for a command of a person. With none anywhere it is the built-in one. A
// fault inside the entry of a server costs that server alone; that a project's file is not trusted is told, once.
func (e *Environment) Load() (*config.Config, *Sources, error) {
	cfg, from, err := e.LoadBy((*config.Source).ParseUsable)
	if err == nil && cfg.Untrusted != nil && !e.Told {
		e.Told = true
		e.Warn(fmt.Sprintf("%s\nworkbench: hint: %s", cfg.Untrusted, cfg.Untrusted.Hint()))
	}
	return cfg, from, err
}

// LoadOnce is load for a command that needs the configuration in several places.
func (e *Environment) LoadOnce() (cfg *config.Config, err error) {
	if e.loaded == nil {
		e.loaded, _, err = e.Load()
	}
	return e.loaded, err
}

// LoadBy is load with nothing told.
func (e *Environment) LoadBy(read Parser) (*config.Config, *Sources, error) {
	from, err := FindSources(e)
	if err != nil {
		return nil, nil, err
	}
	cfg, err := from.Load(read)
	return cfg, from, err
}

// lay changes a configuration by what this call of the program says.
func (e *Environment) lay(cfg *config.Config) error {
	if e.Overlay == nil {
		return nil
	}
	return e.Overlay(cfg)
}
