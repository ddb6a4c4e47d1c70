//go:build unix && !linux

package child

import "github.com/mcp-workbench/workbench/internal/sandbox"

// confined has do start the process, whose rules are enforced by what it is wrapped in.
func (t *tree) confined(_ *sandbox.Rules, do func() error) error { return do() }

// wrapped returns what is run for a command.
func wrapped(cmd command) (path string, argv []string) {
	if cmd.rules == nil {
		return cmd.path, cmd.argv
	}
	return cmd.rules.Wrap(cmd.path, cmd.argv)
}
