package rpc

import (
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox/link"
)

// writer writes messages to a link, each made in a buffer that is used again.
type writer struct {
	link    link.Link
	buffers *wire.Buffers
}

// Write writes a message that is no request: what add appends to a buffer.
func (w *writer) Write(add func(b []byte) []byte) error {
	b := w.buffers.Get()
	defer w.buffers.Put(b)
	*b = add(*b)
	return w.link.Send(*b, 0)
}

// Refuse answers a request of the server with an error of ours.
func (w *writer) Refuse(id []byte, code int, text string) {
	_ = w.Write(func(b []byte) []byte { return wire.AppendError(b, id, code, text, nil) })
}
