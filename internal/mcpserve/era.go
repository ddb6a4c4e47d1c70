package mcpserve

import (
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/internal/wire"
)

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
		data := []byte(`{"supported":[`)
		for i, version := range mcp.ValidProtocolVersions {
			if i > 0 {
				data = append(data, ',')
			}
			data = wire.AppendQuote(data, version)
		}
		data = wire.AppendQuote(append(data, `],"requested":`...), name)
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

// append appends the answer of a call.
func (s *Server) append(id []byte, r Result, e era) []byte {
	dst := make([]byte, 0, len(r.Text)+len(r.Structured)+len(id)+256)
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, id...)
	dst = append(dst, `,"result":{"content":[{"type":"text","text":`...)
	dst = append(dst, r.Text...)
	dst = append(dst, `}]`...)
	if r.IsError {
		dst = append(dst, `,"isError":true`...)
	}
	dst = append(dst, `,"structuredContent":`...)
	dst = append(dst, r.Structured...)
	if e.modern {
		dst = append(dst, `,"resultType":"complete","_meta":{"`+mcp.MetaKeyServerInfo+`":{"name":`...)
		dst = wire.AppendQuote(dst, s.Name)
		dst = append(dst, `,"version":`...)
		dst = wire.AppendQuote(dst, s.Version)
		dst = append(dst, "}}"...)
	}
	return append(dst, "}}"...)
}
