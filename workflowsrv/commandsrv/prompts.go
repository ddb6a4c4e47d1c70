package commandsrv

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// addPrompts adds the two prompts of the specification. They make a client's own model do what execute_command asks of
// it.
func addPrompts(engine *mcpserver.MCPServer) {
	prompt := func(name, title, description, first, firstAbout, instruction string) {
		p := mcp.NewPrompt(name, mcp.WithPromptDescription(description),
			mcp.WithArgument(first, mcp.ArgumentDescription(firstAbout), mcp.RequiredArgument()),
			mcp.WithArgument("metadata", mcp.ArgumentDescription("The entry of the command in the result of get_commands, as JSON"), mcp.RequiredArgument()))
		p.Title = title
		engine.AddPrompt(p, func(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			given, metadata := r.Params.Arguments[first], r.Params.Arguments["metadata"]
			if given == "" || metadata == "" {
				return nil, fmt.Errorf("%s needs the arguments %s and metadata", name, first)
			}
			text := instruction + "\n\n" + firstAbout + ":\n" + given + "\n\nCommand:\n" + metadata
			return &mcp.GetPromptResult{Description: description, Messages: []mcp.PromptMessage{mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(text))}}, nil
		})
	}
	prompt("format-command", "Write a command", "Writes one command string for execute_command from an instruction",
		"intent", "What is wanted",
		"Write one command string that does what is wanted, and nothing else: the name of the command, then each parameter that is required or given, as <parameter>value</parameter>. "+
			"In values write &lt; for < and &amp; for &. Take values from what is wanted, never from the examples. If a required value is not given, answer with MISSING: and its name.")
	prompt("clarify-params", "Ask for what is missing", "Words a short question for the parameters that a command lacks",
		"error_message", "What execute_command answered",
		"Ask the user, in one short question, for the values that the command lacks or did not accept. Say what each is for, and offer the suggestions if there are any. Ask for nothing else.")
}
