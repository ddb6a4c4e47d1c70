// Package mcpserve has what MCP servers inside this process have in common: sessions that speak both eras of the
// protocol, work on calls side by side, cancel them, and end in good order.
//
//	link ─ Receive ─ Session ─┬─ Server.Engine: the handshake, lists and prompts
//	                          └─ Server.Call: the tools
//
// The engine is mcp-go's. Calls of tools do not go through it: it would decode and encode arguments and results.
package mcpserve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Server is what the sessions of a server are made from. It must not be changed once there is one.
type Server struct {
	// Name and Version are what the server calls itself.
	Name, Version string
	// Engine answers initialize, server/discover, ping and Methods.
	Engine  *mcpserver.MCPServer
	Methods []string
	// Requests are the methods that the server answers itself, each on a goroutine of its own.
	Requests map[string]Request
	// Watches is called when a client has asked to hear of changes, which [Session.Updated] and [Session.ListChanged]
	// tell; nil: no client can.
	Watches func()
	// Moved is called when it is known which folders a client of the legacy era works in, the roots that it names, and
	// when they are others; it may block. Calls are then told of them in both eras; nil: no client is asked.
	Moved func(folders []string)
	// Knows reports whether there is a tool of that name.
	Knows func(tool string) bool
	// Call carries out a tool. It runs on a goroutine of its own; ctx ends when the client does not wait for the result
	// any more.
	Call func(ctx context.Context, c Call) Result
	// Task carries on a call that has become a [Task]; nil: none does.
	Task func(ctx context.Context, c TaskCall) (Task, error)
	// MaxRunning is how many calls of one session are worked on at a time; 0 is
	// 32. While there are as many, nothing more is taken from the client, no
	// answers either.
	MaxRunning int
	// Closed is called once when a session was closed, unless it is nil; ctx bounds what it may wait for.
	Closed func(ctx context.Context)
	// Logger is told of requests that have panicked; the zero value is silent.
	Logger zerolog.Logger
}

// A Request answers a method with a JSON object. An error that is no *wire.Error is one within.
type Request func(ctx context.Context, params []byte) (result []byte, err error)

// Call is a call of a tool.
type Call struct {
	Tool      string
	Arguments []byte // as the client sent them; nil if it sent none
	Era       eras.Era
	Client    string // the name of the client's program, "" if it has said none
	// Folders are those of this machine that the client works in, where [Server.Moved] is to know of them.
	Folders []string
	// Progress sends a notification of progress with a message and members of _meta, a JSON object; it is nil if the
	// client has not asked for that.
	Progress func(message string, meta []byte)
	// Elicit asks the user and Sample the model of the client. They are nil if the client does not take that, and in an
	// era that asks in results.
	Elicit, Sample Asker
	// Asked says that a Question may be the result; Answer is what came of one.
	Asked  bool
	Answer *Answer
	// Tasks says that the call may become a [Task]: the client has the extension and can ask the user.
	Tasks bool
}

// An Asker sends a request to the client and waits for the result.
type Asker func(ctx context.Context, params []byte) (result []byte, err error)

// Answer is what the user answered to a [Question] of an earlier result: the call was made again with it.
type Answer struct {
	State  string // of that question
	Action string // accept, decline or cancel
	Form   []byte // what was filled in; nil if nothing was
}

// Question asks the user in a result; the client makes the call again with the answer (MCP 2026-07-28, multi round-trip
// requests).
type Question struct {
	Message string
	Form    []byte // a flat JSON Schema
	State   string // comes back with the answer
	Asked   time.Time
}

// Result is what a tool gives.
type Result struct {
	// Question takes the place of all else where it is not nil. Only a client with Call.Asked can be asked so.
	Question *Question
	// Task does so, too, for a client with Call.Tasks.
	Task *Task

	// Text is the text for the model, as a JSON string; Structured is the structured content, a JSON object.
	Text, Structured []byte
	// More are content blocks behind the text, each with a comma before it.
	More    []byte
	IsError bool
}

// protocol lets the engine answer a request. The engine reads ids as floating point numbers, so it is given another
// one, and the client's is put back. ok is false for an error.
func (s *Server) protocol(m *wire.Message) (msg []byte, ok bool) {
	id := m.Bytes(m.ID)
	request := wire.Splice(nil, m.Raw, wire.Edit{Span: m.ID, New: []byte("1")})
	ctx := mcpserver.WithSupportedProtocolVersions(s.Engine.WithContext(context.Background(), peer{s.Name}), eras.Revisions())
	answer, err := json.Marshal(s.Engine.HandleMessage(ctx, request))
	var a wire.Message
	if err == nil {
		err = wire.Scan(answer, &a)
	}
	if err != nil {
		return wire.AppendError(nil, id, wire.CodeInternal, "Internal error", nil), false
	}
	edits := []wire.Edit{{Span: a.ID, New: id}}
	if code, err := wire.FindPath(answer, a.Error, "code"); m.IsMethod("prompts/get") && a.Kind != wire.Result && err == nil && code.Present() {
		// A prompt refuses its arguments alone, for which the engine has no code.
		edits = append(edits, wire.Edit{Span: code, New: strconv.AppendInt(nil, wire.CodeInvalidParams, 10)})
		slices.SortFunc(edits, func(a, b wire.Edit) int { return a.Span.Start - b.Span.Start })
	}
	return wire.Splice(nil, answer, edits...), a.Kind == wire.Result
}

// answered is the message that answers one of Requests.
func (s *Server) answered(id, result []byte, err error, e eras.Era) []byte {
	if err != nil {
		var told *wire.Error
		if !errors.As(err, &told) {
			told = &wire.Error{Code: wire.CodeInternal, Message: "Internal error: " + cut.Short(err.Error())}
		}
		if told.Code == eras.NoResource {
			told.Code = e.NoResource()
		}
		return wire.AppendError(nil, id, told.Code, told.Message, told.Data)
	}
	if e.TypesResults() {
		o := wire.Object(bytes.Clone(result[:len(result)-1])).Text("resultType", "complete").Raw("ttlMs", []byte("0")).Text("cacheScope", "private")
		result = s.signed(o).End()
	}
	return wire.AppendResult(nil, id, result)
}

// A peer is a session as the engine needs to see one. It holds nothing of a session: what the engine does depends on
// the request alone.
type peer struct{ name string }

var _ mcpserver.ClientSession = peer{}

// Initialize does nothing: the session itself notes the handshake.
func (peer) Initialize() {}

// Initialized is true: the session lets nothing through before.
func (peer) Initialized() bool { return true }

// NotificationChannel is nil: the engine sends nothing by itself.
func (peer) NotificationChannel() chan<- mcp.JSONRPCNotification { return nil }

// SessionID is the same for all, because sessions are not registered.
func (p peer) SessionID() string { return p.name }
