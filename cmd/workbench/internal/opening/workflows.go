package opening

import (
	"cmp"
	"fmt"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/workflowsrv"
)

// Configured gives the options that the configuration leads to: of the built-in workflow server of the toolbox, or of
// all toolboxes together.
func (e *Environment) Configured(toolbox string, log zerolog.Logger) (workflowsrv.Options, error) {
	cfg, _, err := e.Load()
	if err != nil {
		return workflowsrv.Options{}, err
	}
	if _, ok := cfg.Toolbox(toolbox); !ok && toolbox != "" {
		return workflowsrv.Options{}, cli.UnknownToolbox(cfg, toolbox)
	}
	e.Use(cfg, "", log)
	var dirs []string
	conditions := ""
	for t, s := range cfg.Servers() {
		switch {
		case toolbox != "" && t.Name != toolbox || s.Builtin != config.BuiltinWorkflow:
		case s.Problem != nil:
			e.Warn(fmt.Sprintf("the workflows of %s/%s are left out: %v", t.Name, s.Name, s.Problem))
		default:
			dirs = append(dirs, s.Workflows...)
			conditions = cmp.Or(conditions, s.Conditions)
		}
	}
	return e.Hosts.Workflows.Server(dirs, conditions, nil)
}
