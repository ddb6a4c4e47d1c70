package eras

import (
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Unsupported refuses a revision that is not spoken here, and names those that are.
func Unsupported(version string) *wire.Error {
	data := []byte(`{"supported":[`)
	for i, v := range mcp.ValidProtocolVersions {
		if i > 0 {
			data = append(data, ',')
		}
		data = wire.AppendQuote(data, v)
	}
	data = append(data, `],"requested":`...)
	data = append(wire.AppendQuote(data, foreign.NewName(version).String()), '}')
	return &wire.Error{Code: UnsupportedVersion, Message: "Unsupported protocol version", Data: data}
}
