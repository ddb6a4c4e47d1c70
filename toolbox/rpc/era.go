package rpc

import (
	"fmt"
	"slices"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// translated gives the edits that make a request one of the era that was agreed on with a server, and that it is sent
// with for that client. Before the handshake is done there is none.
func (h *Hello) translated(call *Call, client Client) []wire.Edit {
	switch {
	case h.Era == eras.Unknown || h.Era == call.Era && h.Era.IsStateless():
		return nil
	case h.Era.IsStateless():
		if call.Tasks {
			client.Capabilities = eras.WithExtension(client.CapabilitiesObject(), eras.Tasks)
		}
		return eras.ToModern(call.Raw, call.Params, call.Meta, eraMembers(client, h.Version, call.LogLevel))
	}
	task := eras.Keep
	if call.Era.DecidesTasks() {
		task = eras.Drop
		if call.Tasks {
			task = eras.Ask
		}
	}
	return eras.ToLegacy(call.Raw, call.Params, call.Meta, task)
}

// ofEra gives the edits that a notification of the client is sent with: the one that is given, and those that put the
// rest into the terms of the server's era.
func (h *Hello) ofEra(raw []byte, edit wire.Edit) []wire.Edit {
	var m wire.Message
	if h.Era.IsStateless() || wire.Scan(raw, &m) != nil {
		return []wire.Edit{edit}
	}
	meta, _ := wire.FindPath(raw, m.Params, "_meta")
	edits := append(eras.ToLegacy(raw, m.Params, meta, eras.Keep), edit)
	slices.SortStableFunc(edits, func(a, b wire.Edit) int { return a.Span.Start - b.Span.Start })
	return edits
}

// eraMembers gives the members of _meta that every request to a server of revision 2026-07-28 or a later one carries
// (specification, basic, "_meta"); level is that of the log lines that are wanted, "" for none.
func eraMembers(client Client, revision, level string) []byte {
	members := fmt.Appendf(nil, `%q:%q,%q:%s,%q:%s`, eras.Version, revision,
		eras.Info, client.info(), eras.Capabilities, client.CapabilitiesObject())
	if level != "" {
		members = fmt.Appendf(members, `,%q:%q`, eras.LogLevel, level)
	}
	return members
}
