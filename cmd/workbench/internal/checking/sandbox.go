package checking

import (
	"fmt"
	"strings"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/toolbox/launch"
)

// printSandbox says what the sandbox of a server comes to on this system.
func printSandbox(e *cli.Environment, box string, s config.Server) {
	if s.Disabled || s.Problem != nil {
		return
	}
	plan, err := launch.PlanSandbox(box, s, e.Environ, cli.Sandboxes(e))
	if err != nil {
		fmt.Fprintf(e.Out, "      sandbox: cannot be made: %v\n", err)
		return
	}
	if plan == nil {
		return
	}
	fmt.Fprintf(e.Out, "      sandbox: %s\n", s.Sandbox.Preset)
	for line := range strings.Lines(plan.Rules.String()) {
		fmt.Fprintf(e.Out, "        %s", line)
	}
	for _, part := range plan.Missing {
		fmt.Fprintf(e.Out, "        not enforced here: %s\n", part)
	}
	if len(plan.Missing) > 0 && !s.Sandbox.BestEffort {
		fmt.Fprintf(e.Out, "        the server does not start because of that; \"bestEffort\": true lets it start\n")
	}
}
