package commandsrv

import (
	"cmp"
	"context"
	"encoding/json"
	"sync/atomic"

	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/mcp-workbench/workbench/internal/mcpserve"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// serverName is what the server calls itself over MCP.
const serverName = "commands"

// maxRunning is how many calls of one MCP session may be under way: most of them wait, for a turn or for the answer of
// a user.
const maxRunning = 1000

// metaPrefix and the kind of an event are the name under which a notification of progress has it.
const metaPrefix = "io.github.mcp-workbench/"

// For gives the door for one principal: each of its sessions is an MCP server whose tools are the operations.
func (s *Server) For(who principal.Principal) wire.Endpoint {
	return endpoint{s, who}
}

type endpoint struct {
	s   *Server
	who principal.Principal
}

// Connect begins a session.
func (e endpoint) Connect(send func(msg []byte)) wire.Session {
	d := &door{s: e.s, who: e.who}
	server := &mcpserve.Server{
		Name: serverName, Version: e.s.version, Logger: e.s.log, Engine: e.s.engineForMCP(), Methods: []string{"tools/list", "prompts/list", "prompts/get"},
		Knows: func(tool string) bool { return e.s.operations[tool] != nil },
		Call:  d.call, MaxRunning: maxRunning,
	}
	return server.Connect(send)
}

// A door is one MCP session. The session of ours that it has begun last is what its calls mean when they name none.
type door struct {
	s       *Server
	who     principal.Principal
	session atomic.Value // a string
}

func (d *door) call(ctx context.Context, call mcpserve.Call) mcpserve.Result {
	c := &caller{who: d.who, client: cmp.Or(call.Client, "mcp")}
	if call.Era.HasHandshake() {
		c.session, _ = d.session.Load().(string)
	}
	if call.Progress != nil {
		c.tell = func(ev event) {
			call.Progress(ev.wording(), wire.NewObject(nil).Raw(metaPrefix+ev.kind(), ev.encode()).End())
		}
	}
	if call.Elicit != nil {
		c.ask = elicit(call.Elicit)
	}
	c.sample = sampler(call.Sample)
	o := d.s.operations[call.Tool]
	if call.Answer != nil && o.turn() {
		c.answer = readReply(call.Answer)
	}
	result, f := d.s.call(ctx, o, c, call.Arguments)
	if f != nil {
		return mcpserve.Result{Text: wire.AppendQuote(nil, f.Error()), Structured: wire.MustEncode(f), IsError: true}
	}
	if call.Asked && o.turn() {
		if q := asks(result); q != nil {
			return mcpserve.Result{Question: q}
		}
	}
	if o.name == "initialize" {
		d.session.Store(c.session)
	}
	var more []byte
	if o.name == kindRun {
		result, more = apart(result)
	}
	return mcpserve.Result{Text: wire.AppendQuote(nil, string(result)), Structured: result, More: more}
}

// turn reports whether the operation is a turn, whose result may ask.
func (o *operation) turn() bool {
	return o.name == kindAssistant || o.name == kindAgent || o.name == kindCommand || o.name == kindRun
}

// apart takes what is no text out of the content in a result: it becomes content of the result over MCP, where a client
// shows it and a model sees it.
func apart(result json.RawMessage) (rest json.RawMessage, more []byte) {
	var at [1]wire.Span
	var items []json.RawMessage
	if wire.Find(result, wire.Whole(result), []string{"content"}, at[:]) != nil || !at[0].Present() || json.Unmarshal(result[at[0].Start:at[0].End], &items) != nil {
		return result, nil
	}
	texts := []json.RawMessage{}
	for _, item := range items {
		var block struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(item, &block) == nil && block.Type == "text" {
			texts = append(texts, item)
			continue
		}
		more = append(append(more, ','), item...)
	}
	return wire.Splice(nil, result, wire.Edit{Span: at[0], New: wire.MustEncode(texts)}), more
}

// asks gives the question that a result asks, nil if it asks none.
func asks(result json.RawMessage) *mcpserve.Question {
	var r turnResult
	if err := json.Unmarshal(result, &r); err != nil || r.Status != command.AwaitingUser || r.Form == nil {
		return nil
	}
	return &mcpserve.Question{Message: r.Question, Form: r.Form, State: r.TurnKey}
}

// elicit asks through the client (MCP 2025-06-18, "Elicitation").
func elicit(ask mcpserve.Asker) asker {
	return func(ctx context.Context, question string, form json.RawMessage) (string, bool, error) {
		schema := form
		if schema == nil {
			schema = json.RawMessage(`{"type":"object","properties":{"answer":{"type":"string","title":"Answer"}},"required":["answer"]}`)
		}
		answer, err := ask.Elicit(ctx, question, schema)
		if err != nil || answer.Action != "accept" {
			return "", false, err
		}
		if form != nil {
			return string(answer.Form), true, nil
		}
		var text struct {
			Answer string `json:"answer"`
		}
		err = json.Unmarshal(answer.Form, &text)
		return text.Answer, err == nil, err
	}
}

func instructions(info command.Info) string {
	text := info.WorkflowName
	if info.Description != "" {
		text += ": " + info.Description
	}
	if info.Purpose != "" {
		text += "\n" + info.Purpose
	}
	return text + "\nCall initialize first and give its session_id in every other call. get_commands lists what can be done in the session's current context; " +
		"execute_command runs a command exactly as written, invoke_assistant takes an instruction in words. Commands may move the session to another context, which has other commands."
}

// readReply takes a reply as the next instruction would give it.
func readReply(a *mcpserve.Answer) *reply {
	if a.Action != "accept" || len(a.Form) == 0 {
		return &reply{a.State, command.Abort}
	}
	return &reply{a.State, string(a.Form)}
}

// newMCPEngine returns the engine that answers what is no tool call.
func newMCPEngine(info command.Info, version string, table []*operation) *mcpserver.MCPServer {
	var tools []mcpserve.Tool
	for _, o := range table {
		tools = append(tools, mcpserve.Tool{Name: o.name, Title: o.title, Description: o.description, Input: string(wire.MustEncode(inputSchema(o.params))), Output: o.output,
			ReadOnly: o.readOnly, Idempotent: o.idempotent, OpenWorld: o.openWorld})
	}
	engine := mcpserve.NewEngine(mcpserve.About{Name: serverName, Version: version, Description: "Commands of the workflow " + info.WorkflowName, Instructions: instructions(info)},
		tools, []string{"code", "message", "data"}, mcpserver.WithPromptCapabilities(false))
	addPrompts(engine)
	return engine
}
