package rpc

import (
	"fmt"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// translated gives the edits that make a request one of the era that was agreed on with a server, and that it is sent with
// for that client. Before the handshake is done there is none.
func (h *Hello) translated(call *Call, client Client) []wire.Edit {
	switch {
	case h.Version == "" || h.Modern && call.Modern:
		return nil
	case h.Modern:
		if call.Tasks {
			client.Capabilities = eras.WithExtension(client.CapabilitiesObject(), eras.Tasks)
		}
		return eras.ToModern(call.Raw, call.Params, call.Meta, eraMembers(client, call.LogLevel))
	case call.Modern && call.Tasks:
		return eras.ToLegacy(call.Raw, call.Params, call.Meta, eras.Ask)
	case call.Modern:
		return eras.ToLegacy(call.Raw, call.Params, call.Meta, eras.Drop)
	default:
		return eras.ToLegacy(call.Raw, call.Params, call.Meta, eras.Keep)
	}
}

// ofEra gives the edits that a notification of the client is sent with: the one
// that is given, and those that put the rest into the terms of the server's era.
func (h *Hello) ofEra(raw []byte, edit wire.Edit) []wire.Edit {
	var m wire.Message
	if h.Modern || wire.Scan(raw, &m) != nil {
		return []wire.Edit{edit}
	}
	meta, _ := wire.FindPath(raw, m.Params, "_meta")
	edits := append(eras.ToLegacy(raw, m.Params, meta, eras.Keep), edit)
	slices.SortStableFunc(edits, func(a, b wire.Edit) int { return a.Span.Start - b.Span.Start })
	return edits
}

// eraMembers gives the members of _meta that every request to a server of
// revision 2026-07-28 carries (specification, basic, "_meta"); level is that of
// the log lines that are wanted, "" for none.
func eraMembers(client Client, level string) []byte {
	members := fmt.Appendf(nil, `%q:%q,%q:%s,%q:%s`, eras.Version, mcp.LATEST_PROTOCOL_VERSION,
		eras.Info, client.info(), eras.Capabilities, client.CapabilitiesObject())
	if level != "" {
		members = fmt.Appendf(members, `,%q:%q`, eras.LogLevel, level)
	}
	return members
}
