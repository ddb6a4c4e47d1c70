package command_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// at once answers without doing anything.
type atOnce struct{}

func (atOnce) CallTool(context.Context, string, string, string, json.RawMessage) (json.RawMessage, error) {
	return json.RawMessage(`{"content":[{"type":"text","text":"done"}]}`), nil
}

// toolbox is a workflow of n tools with a few parameters each.
func toolbox(n int) *command.Workflow {
	var tools []command.Tool
	for i := range n {
		tools = append(tools, command.Tool{Toolbox: "dev", Server: fmt.Sprintf("server%d", i%10), Raw: json.RawMessage(fmt.Sprintf(
			`{"name":"read_part_%d","description":"Read part %d of a record","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"head":{"type":"integer","minimum":1}},"required":["path"]},"annotations":{"readOnlyHint":true}}`, i, i))})
	}
	return command.Project("dev", "d", tools)
}

// BenchmarkExecute is what an exact command costs beside the call of its tool.
func BenchmarkExecute(b *testing.B) {
	for _, n := range []int{10, 1000} {
		b.Run(fmt.Sprintf("of %d", n), func(b *testing.B) {
			e := command.New(toolbox(n), command.Options{Caller: atOnce{}})
			b.ReportAllocs()
			for b.Loop() {
				o, err := e.Execute(context.Background(), nil, "read_part_7 <path>notes.txt</path> <head>10</head>", command.CallOptions{})
				if err != nil || !o.Output.Success {
					b.Fatalf("got %+v, %v", o, err)
				}
			}
		})
	}
}

// BenchmarkAssist is what it costs to find the command of an instruction.
func BenchmarkAssist(b *testing.B) {
	for _, n := range []int{10, 1000} {
		b.Run(fmt.Sprintf("of %d", n), func(b *testing.B) {
			e := command.New(toolbox(n), command.Options{Caller: atOnce{}})
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Assist(context.Background(), nil, "what does the record of notes.txt say in its seventh part", command.CallOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
