package proxy

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/incoming"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// modern is what a request of revision 2026-07-28 says of its client.
type modern struct {
	capabilities []byte
	level        string // of the log lines it wants, "" for none
}

// readModern gives what a request says of its client; nil if it is none of revision 2026-07-28.
func readModern(r *incoming.Request) (*modern, error) {
	switch {
	case !r.Versioned || !mcp.IsModernProtocol(r.Version):
		return nil, nil
	case !mcp.IsValidProtocolVersion(r.Version):
		return nil, eras.Unsupported(r.Version)
	case !r.HasCapabilities():
		return nil, &wire.Error{Code: wire.CodeInvalidParams, Message: "params._meta lacks " + eras.Capabilities + ", an object"}
	}
	d := &modern{capabilities: bytes.Clone(r.Bytes(r.Capabilities))}
	if r.LogLevel.Present() {
		d.level, _ = wire.Unquote(r.Bytes(r.LogLevel))
		if !slices.Contains(levels(), d.level) {
			return nil, &wire.Error{Code: wire.CodeInvalidParams, Message: fmt.Sprintf("params._meta[%q]: got %s, want one of %v", eras.LogLevel, foreign.NewName(string(r.Bytes(r.LogLevel))), levels())}
		}
	}
	return d, nil
}

// can reports whether the client declared what a request of the server needs.
func (d *modern) can(method string) bool {
	capability := ""
	switch method {
	case "elicitation/create":
		capability = "elicitation"
	case "sampling/createMessage":
		capability = "sampling"
	case "roots/list":
		capability = "roots"
	default:
		return false
	}
	span, err := wire.FindPath(d.capabilities, wire.Span{Start: 0, End: len(d.capabilities)}, capability)
	return err == nil && span.Present()
}

// levels are the log levels in rising order.
func levels() []string {
	return []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
}

// wants reports whether a log message is of the level asked for or above.
func wants(level string, m *wire.Message) bool {
	span, err := wire.FindPath(m.Raw, m.Params, "level")
	if err != nil || level == "" {
		return false
	}
	got, _ := wire.Unquote(m.Bytes(span))
	return slices.Index(levels(), got) >= slices.Index(levels(), level)
}

// lacks refuses a request that needs an extension which its client has not declared.
func lacks(extension string) error {
	data := append(wire.AppendQuote([]byte(`{"requiredCapabilities":{"extensions":{`), extension), ":{}}}}"...)
	return &wire.Error{Code: eras.MissingCapability, Message: "Missing required client capability: the extension " + extension, Data: data}
}
