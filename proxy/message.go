package proxy

import (
	"slices"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// scanned reads a message that was read before; nil of none.
func scanned(raw []byte) *wire.Message {
	if raw == nil {
		return nil
	}
	m := new(wire.Message)
	if err := wire.Scan(raw, m); err != nil {
		panic("a message that was read before cannot be read: " + err.Error())
	}
	return m
}

// edited returns a message with edits made in it.
func edited(m *wire.Message, edits []wire.Edit) *wire.Message {
	if edits == nil {
		return m
	}
	slices.SortFunc(edits, func(x, y wire.Edit) int { return x.Span.Start - y.Span.Start })
	return scanned(wire.Splice(nil, m.Raw, edits...))
}

// withResult returns a message with another result. Where that is none, since what a server nested as deep as it may
// would be nested deeper in it, the message stays as it is.
func withResult(m *wire.Message, result []byte) *wire.Message {
	other := new(wire.Message)
	if wire.Scan(wire.AppendResult(nil, m.Bytes(m.ID), result), other) != nil {
		return m
	}
	return other
}
