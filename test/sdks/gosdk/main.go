// Command gosdk is a server of the official Go SDK for tests: of either era or of both, over standard input and output,
// streamable HTTP with sessions or without, or the SSE of revision 2024-11-05.
//
//	gosdk stdio|sessions|stateless|sse legacy|modern|both
//
// Over HTTP it prints its address, and serves until it is killed. The folder is a module of its own, so that the
// program does not depend on the SDK.
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const modern = "2026-07-28"

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "gosdk:", err)
		os.Exit(1)
	}
}

func run(transport, era string) error {
	server := newServer(era)
	get := func(*http.Request) *mcp.Server { return server }
	var handler http.Handler
	switch transport {
	case "stdio":
		return server.Run(context.Background(), &mcp.StdioTransport{})
	case "sse":
		handler = mcp.NewSSEHandler(get, nil)
	default:
		handler = mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: transport == "stateless"})
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", l.Addr())
	return http.Serve(l, handler)
}

func newServer(era string) *mcp.Server {
	opts := &mcp.ServerOptions{
		CompletionHandler: func(_ context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{req.Params.Argument.Value + "!"}}}, nil
		},
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	}
	all := mcp.SupportedProtocolVersions()
	switch era {
	case "legacy":
		opts.SupportedProtocolVersions = slices.DeleteFunc(all, func(v string) bool { return v == modern })
	case "modern":
		opts.SupportedProtocolVersions = []string{modern}
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "gosdk", Version: "1"}, opts)
	type text struct {
		Text string `json:"text"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "echo"}, func(_ context.Context, _ *mcp.CallToolRequest, in text) (*mcp.CallToolResult, any, error) {
		return say(in.Text), nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "tell"}, tell)
	mcp.AddTool(s, &mcp.Tool{Name: "ask"}, ask)
	s.AddResource(&mcp.Resource{URI: "x:1", Name: "one"}, func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: req.Params.URI, Text: "the text of one"}}}, nil
	})
	s.AddPrompt(&mcp.Prompt{Name: "greet", Arguments: []*mcp.PromptArgument{{Name: "who"}}}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "Hello " + req.Params.Arguments["who"]}}}}, nil
	})
	return s
}

func say(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// tell speaks of its progress and writes a log line before it answers.
func tell(ctx context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	if token := req.Params.GetProgressToken(); token != nil {
		if err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: 1, Total: 2}); err != nil {
			return nil, nil, err
		}
	}
	if err := req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "warning", Data: "a log line"}); err != nil {
		return nil, nil, err
	}
	return say("told"), nil, nil
}

// ask answers with what the client answers to its question, in the way of the request's era.
func ask(ctx context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	question := &mcp.ElicitParams{Message: "a name?", RequestedSchema: map[string]any{
		"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}}}}
	if params := req.Session.InitializeParams(); params != nil && params.ProtocolVersion < modern {
		answer, err := req.Session.Elicit(ctx, question)
		if err != nil {
			return nil, nil, err
		}
		return say(fmt.Sprint("answered ", answer.Content["name"])), nil, nil
	}
	if answer, ok := req.Params.InputResponses["q"].(*mcp.ElicitResult); ok {
		return say(fmt.Sprint("answered ", answer.Content["name"])), nil, nil
	}
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": question}, RequestState: "asked"}, nil, nil
}
