package mcpserve

import (
	"bytes"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// readEra reads the protocol version in the _meta of a request. A version that the server does not speak is an error.
func readEra(m *wire.Message) (eras.Era, *wire.Error) {
	version, err := wire.FindPath(m.Raw, m.Params, "_meta", eras.Version)
	if err != nil {
		return eras.Unknown, &wire.Error{Code: wire.CodeInvalidParams, Message: "Invalid params: " + err.Error(), ID: m.Bytes(m.ID)}
	}
	if !version.Present() {
		return eras.Legacy, nil
	}
	name, ok := wire.Unquote(m.Bytes(version))
	if !ok || !eras.IsSpoken(name) {
		bad := eras.Unsupported(name)
		bad.ID = m.Bytes(m.ID)
		return eras.Unknown, bad
	}
	e := eras.Of(name)
	if !e.IsStateless() {
		return e, nil
	}
	if capabilities := m.Get(m.Params, "_meta", eras.Capabilities); capabilities == nil || capabilities[0] != '{' {
		return eras.Unknown, &wire.Error{Code: wire.CodeInvalidParams,
			Message: "Invalid params: _meta." + eras.Capabilities + " is required", ID: m.Bytes(m.ID)}
	}
	return e, nil
}

// questionKey names the one question of a result.
const questionKey = "answer"

// readAnswer reads what the user answered to the question of an earlier result, nil if the call brings none.
func readAnswer(m *wire.Message) *Answer {
	reply, err := wire.FindPath(m.Raw, m.Params, "inputResponses", questionKey)
	if err != nil || !reply.Present() || m.Raw[reply.Start] != '{' {
		return nil
	}
	var at [2]wire.Span
	if wire.Find(m.Raw, reply, []string{"action", "content"}, at[:]) != nil {
		return nil
	}
	a := &Answer{Form: bytes.Clone(m.Bytes(at[1]))}
	a.Action, _ = wire.Unquote(m.Bytes(at[0]))
	a.State, _ = m.Text(m.Params, "requestState")
	return a
}

// capable reports whether the client of a modern request has a capability.
func capable(m *wire.Message, capability string) bool {
	able := m.Get(m.Params, "_meta", eras.Capabilities, capability)
	return able != nil && able[0] == '{'
}

// askFolders is the answer of a call that asks where the client works.
func (s *Server) askFolders(id []byte) []byte {
	result := wire.NewObject(nil).Text("resultType", "input_required").Raw("inputRequests", []byte(`{"`+foldersKey+`":{"method":"roots/list"}}`))
	return wire.AppendResult(nil, id, s.signed(result).End())
}

// append appends the answer of a call.
func (s *Server) append(id []byte, r Result, e eras.Era) []byte {
	dst := make([]byte, 0, len(r.Text)+len(r.More)+len(r.Structured)+len(id)+256)
	o := wire.NewObject(dst).Text("jsonrpc", "2.0").Raw("id", id)
	result := wire.NewObject(o.Member("result"))
	switch {
	case r.Task != nil:
		result = s.appendTask(result.Text("resultType", "task"), *r.Task, e)
	case r.Question != nil:
		result = s.signed(appendAsked(result.Text("resultType", "input_required"), r.Question).Text("requestState", r.Question.State))
	default:
		result = s.appendResult(result, r, e)
	}
	return append(result, "}}"...)
}

// appendAsked appends the member that asks the user.
func appendAsked(o wire.Object, q *Question) wire.Object {
	params := wire.NewObject(nil).Text("mode", "form").Text("message", q.Message).Raw("requestedSchema", q.Form).End()
	one := wire.NewObject(nil).Text("method", "elicitation/create").Raw("params", params).End()
	return o.Raw("inputRequests", wire.NewObject(nil).Raw(questionKey, one).End())
}

// appendResult appends the members of the result of a call.
func (s *Server) appendResult(o wire.Object, r Result, e eras.Era) wire.Object {
	o = append(append(o.Member("content"), `[{"type":"text","text":`...), r.Text...)
	o = append(append(append(o, '}'), r.More...), ']')
	if r.IsError {
		o = o.True("isError")
	}
	o = o.Raw("structuredContent", r.Structured)
	if e.TypesResults() {
		o = s.signed(o.Text("resultType", "complete"))
	}
	return o
}

// signed adds the _meta of a result that says whose it is.
func (s *Server) signed(o wire.Object) wire.Object {
	who := wire.NewObject(nil).Text("name", s.Name).Text("version", s.Version).End()
	return o.Raw("_meta", wire.NewObject(nil).Raw(eras.ServerInfo, who).End())
}
