package workflowsrv

import (
	"cmp"

	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/mcpserve"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// instructions are what clients show their model at the start.
const instructions = "This server guides you through tested workflows. Call workflow_list to see them, workflow_start to begin one, and workflow_next " +
	"with its run after each step; workflow_resume continues a run of an earlier conversation."

// toolResult gives the answer of a call: the result as text and as structured content, or the fault, as the text for
// the model and as data.
func toolResult(r result, f *fault) mcpserve.Result {
	if f == nil {
		if q := r.question; q != nil {
			return mcpserve.Result{Question: &mcpserve.Question{Message: q.Message, Form: q.Form, State: q.State, Asked: q.Asked}}
		}
		if r.more != nil {
			r.json = append(append(r.json[:len(r.json)-1], ','), r.more[1:]...)
		}
		text := r.quoted
		if text == nil {
			text = wire.AppendQuote(make([]byte, 0, len(r.json)+len(r.json)/8), string(r.json))
		}
		return mcpserve.Result{Text: text, Structured: r.json}
	}
	text := f.message()
	if f.advice != "" {
		text += ": " + f.advice
	}
	return mcpserve.Result{Text: wire.AppendQuote(nil, text), Structured: f.encode(), IsError: true}
}

// newEngine returns the MCP engine, which answers what is no tool call.
func newEngine(table []tool) *mcpserver.MCPServer {
	var tools []mcpserve.Tool
	for _, t := range table {
		tools = append(tools, mcpserve.Tool{Name: t.name, Title: t.title, Description: t.description, ReadOnly: !t.changes, Idempotent: !t.changes,
			Input: cmp.Or(t.keptInput, t.input), Output: cmp.Or(t.keptOutput, t.output)})
	}
	return mcpserve.NewEngine(mcpserve.About{Name: serverName, Version: serverVersion, Description: serverText, Instructions: instructions}, tools,
		[]string{"code", "message"}, mcpserver.WithPromptCapabilities(true), mcpserver.WithResourceCapabilities(true, true),
		mcpserver.WithExtensions(map[string]any{eras.Skills: struct{}{}, eras.Tasks: struct{}{}}))
}
