package workflowsrv

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// instructions are what clients show their model at the start.
const instructions = "This server leads through tested workflows. Call workflow_list to see them, then workflow_next with the id of one " +
	"and follow its steps one at a time; workflow_validate checks what a step produced."

// newEngine returns the MCP engine, which answers what is no tool call.
func newEngine(table []tool) *mcpserver.MCPServer {
	engine := mcpserver.NewMCPServer(serverName, serverVersion,
		mcpserver.WithToolCapabilities(false),
		mcpserver.WithDescription(serverText),
		mcpserver.WithInstructions(instructions),
		// The tools are the same for everybody as long as the program runs.
		mcpserver.WithCacheHints(int64(3600*1000), mcp.CacheScopePublic),
	)
	yes, no := true, false
	for _, t := range table {
		engine.AddTool(mcp.Tool{
			Name: t.name, Title: t.title, Description: t.description,
			RawInputSchema: json.RawMessage(t.input), RawOutputSchema: withFault(t.output),
			Annotations: mcp.ToolAnnotation{Title: t.title, ReadOnlyHint: &yes, DestructiveHint: &no, IdempotentHint: &yes, OpenWorldHint: &no},
		}, nil) // calls do not go through the engine
	}
	return engine
}

// withFault lets an output schema admit what a call that fails returns:
// clients check the structured content of errors, too.
func withFault(output string) json.RawMessage {
	i := strings.LastIndex(output, `,"required":`)
	required := strings.TrimSuffix(output[i+1:], "}")
	return json.RawMessage(output[:i] + `,"anyOf":[{` + required + `},{"required":["code","message"]}]}`)
}

// protocol lets the engine answer a request. The engine reads ids as floating
// point numbers, so it is given another one, and the client's is put back. ok
// is false for an error.
func (s *Server) protocol(m *wire.Message) (msg []byte, ok bool) {
	id := m.Bytes(m.ID)
	request := wire.Splice(nil, m.Raw, wire.Edit{Span: m.ID, New: []byte("1")})
	answer, err := json.Marshal(s.engine.HandleMessage(s.engine.WithContext(context.Background(), peer{}), request))
	var a wire.Message
	if err == nil {
		err = wire.Scan(answer, &a)
	}
	if err != nil {
		return wire.AppendError(nil, id, wire.CodeInternal, "Internal error", nil), false
	}
	return wire.Splice(nil, answer, wire.Edit{Span: a.ID, New: id}), a.Kind == wire.Result
}

// A peer is a session as the engine needs to see one. It holds nothing: what
// the engine does depends on the request alone.
type peer struct{}

var _ mcpserver.ClientSession = peer{}

// Initialize does nothing: the session itself notes the handshake.
func (peer) Initialize() {}

// Initialized is true: the session lets nothing through before.
func (peer) Initialized() bool { return true }

// NotificationChannel is nil: the engine sends nothing by itself.
func (peer) NotificationChannel() chan<- mcp.JSONRPCNotification { return nil }

// SessionID is the same for all, because sessions are not registered.
func (peer) SessionID() string { return serverName }

// An era is what a request says about the protocol it speaks.
type era struct{ modern bool }

// readEra reads the protocol version in the _meta of a request. A version that
// the server does not speak is an error.
func readEra(m *wire.Message) (era, *wire.Error) {
	version, err := wire.FindPath(m.Raw, m.Params, "_meta", mcp.MetaKeyProtocolVersion)
	if err != nil {
		return era{}, &wire.Error{Code: wire.CodeInvalidParams, Message: "Invalid params: " + err.Error(), ID: m.Bytes(m.ID)}
	}
	if !version.Present() {
		return era{}, nil
	}
	name, ok := wire.Unquote(m.Bytes(version))
	if !ok || !mcp.IsValidProtocolVersion(name) {
		data := appendStrings([]byte(`{"supported":`), mcp.ValidProtocolVersions)
		data = wire.AppendQuote(append(data, `,"requested":`...), name)
		return era{}, &wire.Error{Code: mcp.UNSUPPORTED_PROTOCOL_VERSION, Message: "Unsupported protocol version",
			Data: append(data, '}'), ID: m.Bytes(m.ID)}
	}
	if !mcp.IsModernProtocol(name) {
		return era{}, nil
	}
	capabilities, err := wire.FindPath(m.Raw, m.Params, "_meta", mcp.MetaKeyClientCapabilities)
	if err != nil || !capabilities.Present() || m.Raw[capabilities.Start] != '{' {
		return era{}, &wire.Error{Code: wire.CodeInvalidParams,
			Message: "Invalid params: _meta." + mcp.MetaKeyClientCapabilities + " is required", ID: m.Bytes(m.ID)}
	}
	return era{modern: true}, nil
}

// appendToolResult appends the answer of a call: the result as text and as
// structured content, or the fault, as the text for the model and as data.
func appendToolResult(dst, id []byte, r result, f *fault, e era) []byte {
	dst = slices.Grow(dst, len(r.json)*9/4+len(id)+512)
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, id...)
	dst = append(dst, `,"result":{"content":[{"type":"text","text":`...)
	if f != nil {
		text := f.message()
		if f.advice != "" {
			text += ": " + f.advice
		}
		dst = wire.AppendQuote(dst, text)
		dst = append(dst, `}],"isError":true,"structuredContent":`...)
		dst = f.append(dst, true)
	} else {
		if r.quoted != nil {
			dst = append(dst, r.quoted...)
		} else {
			dst = appendQuotedJSON(dst, r.json)
		}
		dst = append(dst, `}],"structuredContent":`...)
		dst = append(dst, r.json...)
	}
	if e.modern {
		dst = append(dst, `,"resultType":"complete","_meta":{"`+mcp.MetaKeyServerInfo+`":`...)
		dst = appendObject(dst, "name", serverName, "version", serverVersion)
		dst = append(dst, '}')
	}
	return append(dst, "}}"...)
}

// appendQuotedJSON appends valid, compact JSON as a JSON string. Only quotes
// and backslashes need an escape there.
func appendQuotedJSON(dst, text []byte) []byte {
	dst = slices.Grow(dst, len(text)+len(text)/8+2)
	dst = append(dst, '"')
	start := 0
	for i, c := range text {
		if c == '"' || c == '\\' {
			dst = append(dst, text[start:i]...)
			dst = append(dst, '\\', c)
			start = i + 1
		}
	}
	dst = append(dst, text[start:]...)
	return append(dst, '"')
}

// compact drops white space from JSON of ours.
func compact(text []byte) []byte { return wire.Compact(nil, text) }
