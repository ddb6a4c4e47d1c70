package main

import (
	"context"
	"fmt"
	"io"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// runTyped is the front one gets by joining mcp-go's stdio server to its stdio client, as many gateways do: every
// request and result is decoded into Go types and encoded again.
//
// It serves HTTP at that address, until it is killed, or with "" in and out.
func runTyped(ctx context.Context, in io.Reader, out io.Writer, address string, argv []string) error {
	c, err := client.NewStdioMCPClient(argv[0], nil, argv[1:]...)
	if err != nil {
		return err
	}
	defer c.Close()
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = mcp.LATEST_LEGACY_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcp.Implementation{Name: "typed", Version: "1"}
	if _, err := c.Initialize(ctx, hello); err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	list, err := c.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return fmt.Errorf("tools/list: %w", err)
	}
	s := server.NewMCPServer("typed", "1", server.WithToolCapabilities(true))
	for _, tool := range list.Tools {
		s.AddTool(tool, c.CallTool)
	}
	if address != "" {
		return server.NewStreamableHTTPServer(s).Start(address)
	}
	return endOf(server.NewStdioServer(s).Listen(ctx, in, out))
}
