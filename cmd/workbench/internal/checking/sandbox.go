package checking

import (
	"fmt"
	"strings"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/diagnosis"
	"github.com/mcp-workbench/workbench/toolbox/launch"
)

// printSandbox says what the sandbox of a server comes to on this system.
func printSandbox(e *cli.Environment, box string, s config.Server) {
	if s.Disabled || s.Problem != nil {
		return
	}
	plan, err := launch.PlanSandbox(box, s, e.Environ, cli.Sandboxes(e))
	if plan == nil || err != nil {
		return // which is among what was found of the server
	}
	fmt.Fprintf(e.Out, "      sandbox: %s\n", s.Sandbox.Preset)
	for line := range strings.Lines(plan.Rules.String()) {
		fmt.Fprintf(e.Out, "        %s", line)
	}
	for _, part := range plan.Missing {
		fmt.Fprintf(e.Out, "        not enforced here: %s\n", part)
	}
}

// unsandboxed finds why a server, of which nothing else is known that keeps it from starting, does not start in its
// sandbox.
func unsandboxed(e *cli.Environment, box string, s config.Server) []diagnosis.Finding {
	plan, err := launch.PlanSandbox(box, s, e.Environ, cli.Sandboxes(e))
	if err == nil && plan != nil {
		err = plan.Gap()
	}
	if err == nil {
		return nil
	}
	f := diagnosis.Finding{Level: diagnosis.Fault, Message: err.Error(), Remedy: `correct "sandbox", or what it names`}
	if i := strings.LastIndex(f.Message, "; "); i >= 0 {
		f.Message, f.Remedy = f.Message[:i], f.Message[i+2:]
	}
	return []diagnosis.Finding{f}
}
