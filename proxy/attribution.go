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

// urlsRequired is the code of the error by which a legacy server has pages visited before a request is made again.
const urlsRequired = "-32042"

// attributed returns a message of a server with the word that this server asks, wherever it asks in the message: to the
// client all questions are of workbench. The error says that other readers might take a question for something else.
func attributed(srv *toolbox.Server, m *wire.Message) (*wire.Message, error) {
	var edits []wire.Edit
	var err error
	switch m.Kind {
	case wire.Request:
		edits, err = nameEdits(nil, srv, string(m.Bytes(m.Method)), m.Raw, m.Params)
	case wire.Failure:
		edits, err = nameURLs(srv, m)
	case wire.Result:
		edits, err = nameInputs(srv, m.Raw, m.Result)
	default:
		edits, err = nameInputs(srv, m.Raw, m.Params)
	}
	if err != nil {
		return nil, err
	}
	return edited(m, edits), nil
}

// nameEdits appends the edits that do so, for a question of that method and params: the text that is shown to a person
// begins with it, and what is shown to a model as well as to a person has it beside it.
func nameEdits(edits []wire.Edit, srv *toolbox.Server, method string, raw []byte, params wire.Span) ([]wire.Edit, error) {
	if !params.Present() || raw[params.Start] != '{' {
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
	shown := method == "elicitation/create" || method == "sampling/createMessage"
	name := wire.AppendQuote(nil, srv.Toolbox+"/"+srv.Name)
	member := append([]byte(`"`+metaServer+`":`), name...)
	switch {
	case !in[0].Present() && shown:
		return append(edits, eras.InsertMember(raw, params, append(append([]byte(`"_meta":{`), member...), '}'))), nil
	case !in[0].Present():
		return edits, nil
	case raw[in[0].Start] != '{':
		return nil, errors.New("its params._meta is no object")
	}
	said, err := wire.FindPath(raw, in[0], metaServer)
	switch {
	case err != nil:
		return nil, err
	case said.Present():
		return append(edits, wire.Edit{Span: said, New: name}), nil
	case shown:
		return append(edits, eras.InsertMember(raw, in[0], member)), nil
	}
	return edits, nil
}

// nameInputs does the same with what a modern server asks in a result, or in a task.
func nameInputs(srv *toolbox.Server, raw []byte, in wire.Span) (edits []wire.Edit, err error) {
	requests, err := wire.FindPath(raw, in, "inputRequests")
	if err != nil {
		return nil, err
	}
	for _, request := range wire.Members(raw, requests) {
		var of [2]wire.Span
		if err := wire.Find(raw, request, []string{"method", "params"}, of[:]); err != nil {
			return nil, err
		}
		method, _ := wire.Unquote(raw[of[0].Start:of[0].End])
		if edits, err = nameEdits(edits, srv, method, raw, of[1]); err != nil {
			return nil, err
		}
	}
	return edits, nil
}

// nameURLs does the same with the pages that an error has visited.
func nameURLs(srv *toolbox.Server, m *wire.Message) (edits []wire.Edit, err error) {
	if code, _ := wire.FindPath(m.Raw, m.Error, "code"); string(m.Bytes(code)) != urlsRequired {
		return nil, nil
	}
	pages, err := wire.FindPath(m.Raw, m.Error, "data", "elicitations")
	if err != nil {
		return nil, err
	}
	for page := range wire.Elements(m.Raw, pages) {
		if edits, err = nameEdits(edits, srv, "elicitation/create", m.Raw, page); err != nil {
			return nil, err
		}
	}
	return edits, nil
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
