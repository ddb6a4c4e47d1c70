package proxy

import (
	"cmp"
	"fmt"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/results"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// smallResult is how long a message is, in bytes, in which no result is large whatever is configured.
const smallResult = 8000

// mayShorten reports whether a large result of the call is to be kept. A script has the whole.
func (f *flight) mayShorten() bool {
	return !f.out.From().Script && f.server.Load().LargeResults().Do == config.LargePreview
}

// shortened keeps a result that is too large for a model's window, and gives the message with a preview in its place. A
// result that cannot be kept is passed on whole, and the log says why.
func (f *flight) shortened(m *wire.Message) *wire.Message {
	srv := f.server.Load()
	large := srv.LargeResults()
	name := srv.Toolbox + "/" + srv.Name
	if f.inner.server != nil {
		name += "/" + foreign.NewName(f.inner.tool).String()
	}
	result, err := f.by.shelf.Preview(m.Raw, m.Result, results.Wish{
		Over:   cmp.Or(large.Over, config.DefaultLargeResult),
		Images: results.Images(large.Images),
		Name:   name,
		Links:  f.by.links(),
	})
	if err != nil {
		f.by.logger.Warn().AnErr(logkey.Err, err).Str(logkey.Toolbox, srv.Toolbox).Str(logkey.Server, srv.Name).
			Msg("a large result was passed on whole")
	}
	if result == nil {
		return m
	}
	short := new(wire.Message)
	if err := wire.Scan(wire.AppendResult(nil, m.Bytes(m.ID), result), short); err != nil {
		panic(fmt.Sprintf("a preview is no message: %v", err))
	}
	return short
}
