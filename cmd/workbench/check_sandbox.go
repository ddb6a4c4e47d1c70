package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/toolbox/launch"
)

// sandboxes is the folder in which sandboxed servers have folders of their own; "" if there is none.
func (e *environment) sandboxes() string {
	dir, err := e.cacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "sandboxes")
}

// printSandbox says what the sandbox of a server comes to on this system.
func (e *environment) printSandbox(box string, s config.Server) {
	if s.Disabled || s.Problem != nil {
		return
	}
	plan, err := launch.PlanSandbox(box, s, e.environ, e.sandboxes())
	if err != nil {
		fmt.Fprintf(e.out, "      sandbox: cannot be made: %v\n", err)
		return
	}
	if plan == nil {
		return
	}
	fmt.Fprintf(e.out, "      sandbox: %s\n", s.Sandbox.Preset)
	for line := range strings.Lines(plan.Rules.String()) {
		fmt.Fprintf(e.out, "        %s", line)
	}
	for _, part := range plan.Missing {
		fmt.Fprintf(e.out, "        not enforced here: %s\n", part)
	}
	if len(plan.Missing) > 0 && !s.Sandbox.BestEffort {
		fmt.Fprintf(e.out, "        it does not start for that; \"bestEffort\": true lets it\n")
	}
}
