package proxy

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// metaServer is the member of _meta that says to a client which server asks.
const metaServer = "workbench/server"

// attributed returns a question of a server with the word that it is this server's: to the client all of them are of
// workbench. The error says that other readers might take the question for something else.
func attributed(srv *toolbox.Server, m *wire.Message) (*wire.Message, error) {
	edits, err := nameEdits(nil, srv, string(m.Bytes(m.Method)), m.Raw, m.Params)
	if err != nil {
		return nil, err
	}
	return edited(m, edits), nil
}

// nameEdits appends the edits that do so, for a question of that method and params: the text that is shown to a person
// begins with it, and what is shown to a model as well as to a person has it beside it.
func nameEdits(edits []wire.Edit, srv *toolbox.Server, method string, raw []byte, params wire.Span) ([]wire.Edit, error) {
	if method != "elicitation/create" && method != "sampling/createMessage" || !params.Present() || raw[params.Start] != '{' {
		return edits, nil
	}
	var in [2]wire.Span
	if err := wire.Find(raw, params, []string{"_meta", "message"}, in[:]); err != nil {
		return nil, err
	}
	if method == "elicitation/create" && in[1].Present() && raw[in[1].Start] == '"' {
		text := wire.AppendQuote(nil, fmt.Sprintf("Server %q of toolbox %q asks: ", srv.Name, srv.Toolbox))
		edits = append(edits, wire.Edit{Span: wire.At(in[1].Start + 1), New: text[1 : len(text)-1]})
	}
	name := wire.AppendQuote(nil, srv.Toolbox+"/"+srv.Name)
	member := append([]byte(`"`+metaServer+`":`), name...)
	switch {
	case !in[0].Present():
		return append(edits, insertMember(raw, params, append(append([]byte(`"_meta":{`), member...), '}'))), nil
	case raw[in[0].Start] != '{':
		return nil, errors.New("its params._meta is no object")
	}
	said, err := wire.FindPath(raw, in[0], metaServer)
	switch {
	case err != nil:
		return nil, err
	case said.Present():
		return append(edits, wire.Edit{Span: said, New: name}), nil
	}
	return append(edits, insertMember(raw, in[0], member)), nil
}

// nameInputs does the same with what a modern server asks in a result.
func nameInputs(srv *toolbox.Server, m *wire.Message) (*wire.Message, error) {
	requests, err := wire.FindPath(m.Raw, m.Result, "inputRequests")
	if err != nil || !requests.Present() {
		return m, err
	}
	var edits []wire.Edit
	for _, request := range wire.Members(m.Raw, requests) {
		var in [2]wire.Span
		if err := wire.Find(m.Raw, request, []string{"method", "params"}, in[:]); err != nil {
			return nil, err
		}
		method, _ := wire.Unquote(m.Bytes(in[0]))
		if edits, err = nameEdits(edits, srv, method, m.Raw, in[1]); err != nil {
			return nil, err
		}
	}
	return edited(m, edits), nil
}

// noticeToLegacy gives a server's notification as a legacy client is to see it.
func noticeToLegacy(srv *toolbox.Server, m *wire.Message, edits ...wire.Edit) []byte {
	if srv.Era().IsStateless() {
		edits = append(edits, eras.NoticeToLegacy(m.Raw, m.Params)...)
		slices.SortStableFunc(edits, func(x, y wire.Edit) int { return x.Span.Start - y.Span.Start })
	}
	if len(edits) == 0 {
		return m.Raw
	}
	return wire.Splice(nil, m.Raw, edits...)
}
