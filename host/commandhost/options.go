package commandhost

import (
	"context"
	"net/http"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/child"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// Options are what a Host gets from the program around it.
type Options struct {
	Version string
	// Startup is the command that sessions begin with, "" for that of the workflow.
	Startup string
	// Direct is the one toolbox that is served over HTTP, "" for all.
	Direct string
	// Tools are what commands call.
	Tools Tools
	// Store is what conversations are kept in.
	Store Store
	// HTTP makes the requests to models, and those of commands.
	HTTP *http.Client
	// Programs run the programs of commands.
	Programs child.Runner
	// Credential finds a secret of a user, for the commands that run for that user.
	Credential func(ctx context.Context, user, name string) (string, error)
	// Reveal gives a text of a configuration with its secrets.
	Reveal func(ctx context.Context, cfg *config.Config, text string) (string, error)
	// Logger receives what concerns the operator; the zero value is silent.
	Logger zerolog.Logger
}

// Tools lists and calls the tools of toolboxes.
type Tools interface {
	command.Caller
	// Tools lists the tools of a toolbox; unlisted are its servers, as TOOLBOX/SERVER, that could not tell theirs.
	Tools(ctx context.Context, toolbox string) (tools []command.Tool, unlisted []string, err error)
}

// Store is a store that is opened when it is wanted first.
type Store interface {
	Get(context.Context) (*store.Store, error)
	// Works reports whether the store answers, or is not open yet.
	Works(context.Context) bool
}
