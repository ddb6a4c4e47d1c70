// Package workflow has the commands about workflows, for those who write and read them.
package workflow

import (
	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
)

func Command(env *opening.Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "workflow",
		Short: "List, check, write and follow workflows",
		Long: `Workflows are files in JSON or YAML that guide an agent through a task step by step.
They are part of workbench, or in ~/.workbench/workflows, ./workflows,
./.workbench/workflows, the directories of WORKFLOW_STORAGE_PATH and those that the
configuration names. If two places have the same workflow, the later one is used.`,
		Example: `  workbench workflow list
  workbench workflow init
  workbench workflow validate my-first-workflow.json
  workbench workflow next my-first-workflow`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(workflowListCommand(env), workflowSourcesCommand(env), workflowShowCommand(env), workflowNextCommand(env),
		workflowWalkCommand(env), workflowValidateCommand(env), workflowTestCommand(env), workflowJudgeCommand(env), workflowGraphCommand(env),
		workflowVariablesCommand(env), workflowFmtCommand(env), workflowInitCommand(env), workflowUpdateCommand(env), workflowSchemaCommand(env), workflowServeCommand(env))
	return cmd
}
