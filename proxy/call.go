package proxy

import (
	"bytes"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/incoming"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// call is a request as its handlers see it. It is valid only during the handling.
type call struct {
	*incoming.Request
	out   Outlet
	scope uint64
	terms terms
}

// own returns the call with bytes of its own, for work that goes on after the handling.
func (c *call) own() *call {
	r := *c.Request
	r.Raw = bytes.Clone(r.Raw)
	later := *c
	later.Request = &r
	return &later
}

// findArgs looks up members of the arguments of one of our own tools, as [wire.Find] does. What is null or empty is left
// out, as models write it that have to name every member.
func (c *call) findArgs(in wire.Span, keys []string, out []wire.Span) error {
	err := wire.Find(c.Raw, in, keys, out)
	for i := range out {
		switch string(c.Bytes(out[i])) {
		case "null", `""`, "[]":
			out[i] = wire.Span{}
		}
	}
	return err
}

// newCall makes the call of a message that was scanned and not read yet.
func newCall(m *wire.Message, out Outlet, scope uint64) (*call, error) {
	c := &call{Request: &incoming.Request{Message: *m}, out: out, scope: scope}
	err := c.Read()
	if err == nil {
		c.terms, err = readTerms(c.Request)
	}
	return c, err
}

// withoutAnswers gives a request as it was before it was made again: its state is ours, and means nothing to the
// server.
func (c *call) withoutAnswers() (*call, error) {
	m := new(wire.Message)
	if err := wire.Scan(wire.Splice(nil, c.Raw, eras.WithoutAnswers(c.Raw, c.Params)...), m); err != nil {
		return nil, err
	}
	return newCall(m, c.out, c.scope)
}

// fail answers a request that was not registered with an error.
func (c *call) fail(err error) { c.out.Finish(errorReply(c.Bytes(c.ID), err)) }
