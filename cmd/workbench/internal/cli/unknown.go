package cli

import (
	"errors"

	"github.com/mcp-workbench/workbench/config"
)

// UnknownToolbox says that there is no toolbox of a name, and which there are.
func UnknownToolbox(cfg *config.Config, name string) error {
	return Advised(cfg.UnknownToolbox(name))
}

// Advised adds to an error about a toolbox that is not there which there are.
func Advised(err error) error {
	var unknown *config.UnknownToolboxError
	if errors.As(err, &unknown) {
		return Usage(Hint(err, unknown.Hint()))
	}
	return err
}
