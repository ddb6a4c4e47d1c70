package rpc

import (
	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox/link"
)

// writer writes messages to a link, each made in a buffer that is used again.
type writer struct {
	link    link.Link
	buffers *wire.Buffers
	log     zerolog.Logger
}

// Write writes a message that is no request: what add appends to a buffer. If the message cannot be delivered after
// Write returned, that is logged.
func (w *writer) Write(add func(b []byte) []byte) error {
	return w.WriteOr(add, func(err error) {
		w.log.Warn().AnErr(logkey.Err, foreign.NewError(err)).Msg("a notification or an answer did not reach the server")
	})
}

// WriteOr does what Write does, but lost is called in place of the log.
func (w *writer) WriteOr(add func(b []byte) []byte, lost func(error)) error {
	b := w.buffers.Get()
	defer w.buffers.Put(b)
	*b = add(*b)
	return w.link.Tell(*b, lost)
}

// Refuse answers a request of the server with an error of ours.
func (w *writer) Refuse(id []byte, code int, text string) {
	_ = w.Write(func(b []byte) []byte { return wire.AppendError(b, id, code, text, nil) })
}
