package mcpserve

import (
	"bytes"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// readEra reads the protocol version in the _meta of a request. A version that
// the server does not speak is an error.
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

// readAnswer reads what the user answered to the question of an earlier result,
// nil if the call brings none.
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

// inputRequired begins a result that asks the client for something.
const inputRequired = `,"result":{"resultType":"input_required","inputRequests":{"`

// capable reports whether the client of a modern request has a capability.
func capable(m *wire.Message, capability string) bool {
	able := m.Get(m.Params, "_meta", eras.Capabilities, capability)
	return able != nil && able[0] == '{'
}

// appendFolders is the answer of a call that asks where the client works.
func (s *Server) appendFolders(id []byte) []byte {
	dst := append(append([]byte(`{"jsonrpc":"2.0","id":`), id...), inputRequired+foldersKey+`":{"method":"roots/list"}},`...)
	return append(s.appendIdentity(dst), "}}"...)
}

// append appends the answer of a call.
func (s *Server) append(id []byte, r Result, e eras.Era) []byte {
	dst := make([]byte, 0, len(r.Text)+len(r.More)+len(r.Structured)+len(id)+256)
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(append(dst, id...), `,"result":`...)
	switch {
	case r.Task != nil:
		dst = s.appendTask(append(dst, `{"resultType":"task",`...), *r.Task, e)
	case r.Question != nil:
		dst = appendAsked(append(dst, `{"resultType":"input_required",`...), r.Question)
		dst = wire.AppendQuote(append(dst, `,"requestState":`...), r.Question.State)
		dst = append(s.appendIdentity(append(dst, ',')), '}')
	default:
		dst = s.appendResult(dst, r, e)
	}
	return append(dst, '}')
}

// appendAsked appends the member that asks the user.
func appendAsked(dst []byte, q *Question) []byte {
	dst = append(dst, `"inputRequests":{"`+questionKey+`":{"method":"elicitation/create","params":{"mode":"form","message":`...)
	dst = wire.AppendQuote(dst, q.Message)
	return append(append(append(dst, `,"requestedSchema":`...), q.Form...), "}}}"...)
}

// appendResult appends the result of a call.
func (s *Server) appendResult(dst []byte, r Result, e eras.Era) []byte {
	dst = append(dst, `{"content":[{"type":"text","text":`...)
	dst = append(append(append(dst, r.Text...), '}'), r.More...)
	dst = append(dst, ']')
	if r.IsError {
		dst = append(dst, `,"isError":true`...)
	}
	dst = append(append(dst, `,"structuredContent":`...), r.Structured...)
	if e.TypesResults() {
		dst = s.appendIdentity(append(dst, `,"resultType":"complete",`...))
	}
	return append(dst, '}')
}

// appendIdentity appends the _meta of a result that says whose it is.
func (s *Server) appendIdentity(dst []byte) []byte {
	dst = wire.AppendQuote(append(dst, `"_meta":{"`+eras.ServerInfo+`":{"name":`...), s.Name)
	dst = wire.AppendQuote(append(dst, `,"version":`...), s.Version)
	return append(dst, "}}"...)
}
