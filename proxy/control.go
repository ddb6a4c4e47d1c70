package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/jsontype"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/meta"
)

// control answers what belongs to the protocol itself, through mcp-go: initialize, server/discover, ping and
// logging/setLevel.
type control struct{ engine *server.MCPServer }

// newControl makes the engine for a client that is offered some toolboxes, whose names are also in what workbench says
// of itself: some clients show that where they show no instructions.
func newControl(version, instructions string, toolboxes []config.Toolbox) *control {
	title, description := meta.Introduction(toolboxes)
	hooks := new(server.Hooks)
	hooks.AddOnError(func(ctx context.Context, _ any, _ mcp.MCPMethod, _ any, err error) {
		var unread *server.UnparsableMessageError
		if peer, ok := server.ClientSessionFromContext(ctx).(*enginePeer); ok && errors.As(err, &unread) {
			peer.fault = unread
		}
	})
	return &control{server.NewMCPServer(Name, version,
		server.WithInstructions(instructions),
		server.WithTitle(title),
		server.WithDescription(description),
		server.WithToolCapabilities(true),
		server.WithResourceCapabilities(true, true),
		server.WithPromptCapabilities(true),
		server.WithLogging(),
		server.WithCompletions(),
		server.WithTaskCapabilities(true, true, true),
		server.WithExtensions(extensions()),
		server.WithHooks(hooks),
	)}
}

// extensions are those that servers behind workbench may have, with their settings. None is started when a client asks,
// so that all are declared.
func extensions() map[string]any {
	return map[string]any{
		eras.Tasks:  struct{}{},
		eras.Apps:   struct{}{},
		eras.Skills: map[string]bool{"directoryRead": true},
	}
}

// answer gives the reply to a request, with the client's own id. The engine decodes ids into floats, so it is shown a
// small number instead.
func (c *control) answer(m *wire.Message, peer *enginePeer) []byte {
	ctx := server.WithSupportedProtocolVersions(c.engine.WithContext(context.Background(), peer), eras.Revisions())
	shown := wire.Splice(nil, m.Raw, wire.Edit{Span: m.ID, New: []byte("1")})
	id := m.Bytes(m.ID)
	raw, err := json.Marshal(c.engine.HandleMessage(ctx, shown))
	if err != nil {
		return wire.AppendError(nil, id, wire.CodeInternal, "the answer cannot be encoded: "+err.Error(), nil)
	}
	var reply wire.Message
	if err := wire.Scan(raw, &reply); err != nil {
		return wire.AppendError(nil, id, wire.CodeInternal, "the answer is not a message: "+err.Error(), nil)
	}
	if reply.Kind == wire.Failure { // whose message may repeat what the client sent
		code, _ := jsontype.Int(reply.Get(reply.Error, "code"))
		message, _ := reply.Text(reply.Error, "message")
		if peer.fault != nil {
			message = foreign.NewError(peer.fault).Error()
		}
		return wire.AppendError(nil, id, code, foreign.NewText(message).String(), nil)
	}
	edits := []wire.Edit{{Span: reply.ID, New: id}}
	if m.IsMethod("server/discover") {
		// In revision 2026-07-28 tasks are an extension, and a server that declares what they were before has not got
		// it.
		capabilities, _ := wire.FindPath(raw, reply.Result, "capabilities")
		edits = append(edits, eras.Without(raw, capabilities, "tasks")...)
	}
	slices.SortFunc(edits, func(x, y wire.Edit) int { return x.Span.Start - y.Span.Start })
	return wire.Splice(nil, raw, edits...)
}

// enginePeer is a session as mcp-go wants it. What the client says of itself is read from its bytes elsewhere, since
// these types would lose some of it.
type enginePeer struct {
	level mcp.LoggingLevel
	ready bool
	fault error // why the engine could not read what it was asked
}

func (p *enginePeer) SessionID() string                                   { return "" }
func (p *enginePeer) NotificationChannel() chan<- mcp.JSONRPCNotification { return nil }
func (p *enginePeer) Initialize()                                         { p.ready = true }
func (p *enginePeer) Initialized() bool                                   { return p.ready }
func (p *enginePeer) SetLogLevel(level mcp.LoggingLevel)                  { p.level = level }
func (p *enginePeer) GetLogLevel() mcp.LoggingLevel                       { return p.level }
