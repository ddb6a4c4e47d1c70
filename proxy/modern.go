package proxy

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// modern is what a request of revision 2026-07-28 says of its client.
type modern struct {
	capabilities []byte
	level        string // of the log lines it wants, "" for none
}

func unsupportedVersion(version string) error {
	data := []byte(`{"supported":[`)
	for i, v := range mcp.ValidProtocolVersions {
		if i > 0 {
			data = append(data, ',')
		}
		data = wire.AppendQuote(data, v)
	}
	data = append(data, `],"requested":`...)
	data = append(wire.AppendQuote(data, foreign.NewName(version).String()), '}')
	return &wire.Error{Code: eras.UnsupportedVersion, Message: "Unsupported protocol version", Data: data}
}

// modern reads the metadata of a request; nil if it has none of revision
// 2026-07-28.
func (s *session) modern(c *call) (*modern, error) {
	var in [5]wire.Span
	if err := wire.Find(c.Raw, c.meta, []string{"progressToken", eras.Version, eras.Info, eras.Capabilities, eras.LogLevel}, in[:]); err != nil {
		return nil, err
	}
	c.token = in[0]
	version, ok := wire.Unquote(c.Bytes(in[1]))
	if !ok || !mcp.IsModernProtocol(version) {
		return nil, nil
	}
	if !mcp.IsValidProtocolVersion(version) {
		return nil, unsupportedVersion(version)
	}
	if !in[3].Present() || c.Raw[in[3].Start] != '{' {
		return nil, &wire.Error{Code: wire.CodeInvalidParams, Message: "params._meta lacks " + eras.Capabilities + ", an object"}
	}
	d := &modern{capabilities: bytes.Clone(c.Bytes(in[3]))}
	if in[4].Present() {
		d.level, _ = wire.Unquote(c.Bytes(in[4]))
		if !slices.Contains(levels(), d.level) {
			return nil, &wire.Error{Code: wire.CodeInvalidParams, Message: fmt.Sprintf("params._meta[%q]: got %s, want one of %v", eras.LogLevel, foreign.NewName(string(c.Bytes(in[4]))), levels())}
		}
	}
	s.introduce(toolbox.Client{Version: version, Info: bytes.Clone(c.Bytes(in[2])), Capabilities: d.capabilities}, false)
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
