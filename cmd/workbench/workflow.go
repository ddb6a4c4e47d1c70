package main

import (
	"os"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv"
	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

func workflowCommand(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "workflow",
		Short: "Work with workflows, and serve them",
	}
	cmd.AddCommand(workflowServeCommand(env))
	return cmd
}

// workflowServer makes the built-in workflow server over the places where
// workflows lie; dirs are those of the configuration, conditions is "strict",
// "lenient" or empty.
func (e *environment) workflowServer(dirs []string, conditions string, log zerolog.Logger) (*workflowsrv.Server, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	home, _ := e.lookup("HOME")
	path, _ := e.lookup("WORKFLOW_STORAGE_PATH")
	mode := criteria.Strict
	if conditions == "lenient" {
		mode = criteria.Lenient
	}
	layers := definition.Layers{Home: home, Project: dir, Path: path, Dirs: dirs}
	return workflowsrv.New(workflowsrv.Options{Logger: log, Sources: layers.Sources(), Mode: mode}), nil
}

func workflowServeCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:     "serve",
		Short:   "Serve the workflows as an MCP server on standard input and output",
		Example: "  workbench workflow serve",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if isTerminal(env.in) {
				return cmd.Help()
			}
			log, closeLog, err := env.logger()
			if err != nil {
				return err
			}
			defer closeLog()
			srv, err := env.workflowServer(nil, "", log)
			if err != nil {
				return err
			}
			defer srv.Close()
			in, out, restore := pollable(env.in, env.out)
			defer restore()
			return wire.Serve(cmd.Context(), in, out, srv, wire.ServeOptions{})
		},
	}
}
