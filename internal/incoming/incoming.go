// Package incoming reads what decides where a message of a client goes and by which rules it is served. That is read
// once, by whoever takes the message from the client, and handed on with the message.
package incoming

import (
	"bytes"
	"errors"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Request is a message of a client, and where the parts stand that [Request.Read] found. A part that the message does
// not have is absent. The request is valid for as long as the bytes of the message are.
type Request struct {
	wire.Message

	MethodName string

	// Members of params.
	Name      wire.Span // params.ref of a completion
	URI       wire.Span
	Args      wire.Span // params.arguments
	Meta      wire.Span // params._meta
	Task      wire.Span // which asks for a task
	TaskID    wire.Span
	State     wire.Span // params.requestState
	Responses wire.Span // params.inputResponses

	// Members of _meta.
	Token        wire.Span // progressToken
	Info         wire.Span // what revision 2026-07-28 has the client say of itself
	Capabilities wire.Span
	LogLevel     wire.Span
	Version      string
	Versioned    bool // Version is there, and a string
}

// Read finds the parts in the message, which was scanned. The error is a [*wire.Error] that has the id of the message.
func (r *Request) Read() error {
	*r = Request{Message: r.Message, MethodName: methodName(&r.Message)}
	err := r.readParams()
	if err == nil && r.HasMeta() {
		err = r.readMeta()
	}
	if err != nil {
		r.name(err)
	}
	return err
}

// name says in an error which message it is of.
func (r *Request) name(err error) {
	if bad, ok := errors.AsType[*wire.Error](err); ok {
		bad.ID = bytes.Clone(r.Bytes(r.ID))
	}
}

// HasMeta reports whether the message has metadata of a form that can be read.
func (r *Request) HasMeta() bool { return r.Meta.Present() && r.Raw[r.Meta.Start] == '{' }

// HasCapabilities reports whether the metadata says what the client can do.
func (r *Request) HasCapabilities() bool {
	return r.Capabilities.Present() && r.Raw[r.Capabilities.Start] == '{'
}

// methodName returns the method of a message without allocating for the common ones.
func methodName(m *wire.Message) string {
	b := m.Bytes(m.Method)
	switch string(b) {
	case "tools/call":
		return "tools/call"
	case "tools/list":
		return "tools/list"
	case "resources/read":
		return "resources/read"
	}
	return string(b)
}

func (r *Request) readParams() error {
	if !r.Params.Present() {
		return nil
	}
	var out [9]wire.Span
	keys := []string{"name", "uri", "arguments", "_meta", "ref", "task", "taskId", "requestState", "inputResponses"}
	err := wire.Find(r.Raw, r.Params, keys, out[:])
	r.Name, r.URI, r.Args, r.Meta = out[0], out[1], out[2], out[3]
	if r.MethodName == "completion/complete" {
		r.Name = out[4]
	}
	r.Task, r.TaskID, r.State, r.Responses = out[5], out[6], out[7], out[8]
	return err
}

func (r *Request) readMeta() error {
	var out [5]wire.Span
	err := wire.Find(r.Raw, r.Meta, []string{"progressToken", eras.Version, eras.Info, eras.Capabilities, eras.LogLevel}, out[:])
	r.Token, r.Info, r.Capabilities, r.LogLevel = out[0], out[2], out[3], out[4]
	r.Version, r.Versioned = wire.Unquote(r.Bytes(out[1]))
	return err
}

// With gives the request as it is after an edit to its bytes, and the edits that are still to be made to it. No part
// that either knows of begins or ends within what is replaced.
func (r *Request) With(e wire.Edit, edits []wire.Edit) (*Request, []wire.Edit) {
	grown := len(e.New) - (e.Span.End - e.Span.Start)
	move := func(s *wire.Span) {
		if !s.Present() {
			return
		}
		if s.Start >= e.Span.End {
			s.Start += grown
		}
		if s.End >= e.Span.End {
			s.End += grown
		}
	}
	after := *r
	after.Raw = wire.Splice(nil, r.Raw, e)
	for _, s := range []*wire.Span{
		&after.ID, &after.Method, &after.Params,
		&after.Name, &after.URI, &after.Args, &after.Meta, &after.Task, &after.TaskID, &after.State, &after.Responses,
		&after.Token, &after.Info, &after.Capabilities, &after.LogLevel,
	} {
		move(s)
	}
	if !after.Meta.Present() {
		after.Meta, _ = wire.FindPath(after.Raw, after.Params, "_meta")
	}
	moved := make([]wire.Edit, len(edits))
	for i, edit := range edits {
		moved[i] = edit
		move(&moved[i].Span)
	}
	return &after, moved
}
