// Package workflow has the commands about workflows, for those who write and read them.
package workflow

import (
	"fmt"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/internal/nearest"
	"github.com/mcp-workbench/workbench/workflowsrv"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
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

// readCatalogue reads the workflows that apply here.
func readCatalogue(e *opening.Environment) (*definition.Catalogue, workflowsrv.Options, error) {
	opts, err := e.Configured("", zerolog.Nop())
	if err != nil {
		return nil, opts, err
	}
	e.Hosts.Workflows.Wait()
	return definition.NewStore(opts.Sources).Catalogue(), opts, nil
}

// findWorkflow looks up a workflow by its id.
func findWorkflow(c *definition.Catalogue, id string) (*definition.Entry, error) {
	if e := c.Entry(id); e != nil {
		return e, nil
	}
	for _, f := range c.Invalid {
		if f.ID == id {
			return nil, cli.Hint(fmt.Errorf("workflow %q: %s is not valid", id, f.File),
				"workbench workflow validate "+f.File+" says why")
		}
	}
	hint := "workbench workflow list shows what there is"
	if near := nearest.Names(id, c.IDs(), 1); len(near) > 0 {
		hint = fmt.Sprintf("did you mean %q? %s", near[0], hint)
	}
	return nil, cli.Hint(fmt.Errorf("there is no workflow %q", id), hint)
}

// oneID wants the id of a workflow.
func oneID(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return cli.Hint(cli.Usage(fmt.Errorf("%s needs the id of one workflow", cmd.Name())), "workbench workflow list shows what there is")
}

// completeWorkflow offers the ids for shell completion.
func completeWorkflow(e *opening.Environment) cli.Completion {
	return cli.Offer(func() []string {
		c, _, err := readCatalogue(e)
		if err != nil {
			return nil
		}
		return c.IDs()
	})
}
