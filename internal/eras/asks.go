package eras

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/jsontype"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// What a server asks of a client is a request of its own in the legacy era. In the modern one it stands in the result
// of the client's request, as an object of method and params, and the answer in the request that is then made again.

// Asks reports whether servers ask a client for something by a method.
func Asks(method string) bool {
	return method == "elicitation/create" || method == "sampling/createMessage" || method == "roots/list"
}

// MayAsk reports whether a modern server may ask its client something in the result of a method.
func MayAsk(method string) bool {
	return method == "tools/call" || method == "prompts/get" || method == "resources/read"
}

// Lacking names what a client has not declared, by its capabilities, that it is to have to be asked something by a method
// with these params, "" for nothing. They are empty or an object.
func Lacking(capabilities []byte, method string, params []byte) string {
	var path []string
	has := func() bool {
		span, _ := wire.FindPath(capabilities, wire.Whole(capabilities), path...)
		return isObject(capabilities, span)
	}
	asked := wire.Whole(params)
	switch method {
	case "roots/list":
		path = []string{"roots"}
	case "sampling/createMessage":
		if path = []string{"sampling"}; wire.Get(params, asked, "tools") != nil || wire.Get(params, asked, "toolChoice") != nil {
			path = append(path, "tools")
		}
	case "elicitation/create":
		if path = []string{"elicitation"}; !has() {
			break
		}
		mode, _ := wire.Text(params, asked, "mode")
		if mode = cmp.Or(mode, "form"); mode == "form" && wire.Get(capabilities, wire.Whole(capabilities), "elicitation", "url") == nil {
			return "" // a client that names no mode shows forms
		}
		path = append(path, mode)
	default:
		return method
	}
	if has() {
		return ""
	}
	return strings.Join(path, ".")
}

// Question reads what a modern server asks, which stands at in.
func Question(raw []byte, in wire.Span) (method string, params []byte, err error) {
	var out [2]wire.Span
	if err := wire.Find(raw, in, []string{"method", "params"}, out[:]); err != nil {
		return "", nil, err
	}
	if method, _ = wire.Unquote(raw[out[0].Start:out[0].End]); !Asks(method) {
		return "", nil, fmt.Errorf("its method is %q", foreign.NewName(method))
	}
	if out[1].Present() && !isObject(raw, out[1]) {
		return "", nil, fmt.Errorf("the params of %s are not an object", foreign.NewName(method))
	}
	return method, raw[out[1].Start:out[1].End], nil
}

// AppendQuestionToLegacy appends the request by which a legacy client is asked what a modern server wants to know; id
// is the token of its id.
func AppendQuestionToLegacy(dst, id []byte, method string, params []byte) []byte {
	if len(params) > 0 {
		// Where a page is to be visited, the legacy era has an id for that.
		whole := wire.Whole(params)
		var edits []wire.Edit
		if mode, _ := wire.Text(params, whole, "mode"); mode == "url" && wire.Get(params, whole, "elicitationId") == nil {
			edits = without(params, whole, append([]byte(`"elicitationId":`), id...))
		}
		params = wire.Splice(nil, params, edits...)
	}
	return wire.AppendRequest(dst, string(id), method, params)
}

// AppendQuestionToModern appends a legacy server's request as a modern client finds it in a result.
func AppendQuestionToModern(dst []byte, m *wire.Message) []byte {
	o := append(append(wire.Object(wire.NewObject(dst).Member("method")), '"'), append(m.Bytes(m.Method), '"')...)
	if m.Params.Present() {
		params := m.Bytes(m.Params)
		o = wire.Splice(o.Member("params"), params, without(params, wire.Whole(params), nil, "elicitationId")...)
	}
	return o.End()
}

// Pages gives what a modern client is asked in place of a legacy server's error that has pages visited first: a map of
// questions, and how many they are. It is nil for any other error.
func Pages(m *wire.Message) (questions []byte, n int) {
	if code, _ := jsontype.Int(m.Get(m.Error, "code")); code != PagesRequired {
		return nil, 0
	}
	pages, _ := wire.FindPath(m.Raw, m.Error, "data", "elicitations")
	all := wire.NewObject(nil)
	for page := range wire.Elements(m.Raw, pages) {
		if !isObject(m.Raw, page) {
			return nil, 0
		}
		n++
		params := m.Bytes(page)
		params = wire.Splice(nil, params, without(params, wire.Whole(params), []byte(`"mode":"url"`), "mode", "elicitationId")...)
		one := wire.NewObject(nil).Text("method", "elicitation/create").Raw("params", params).End()
		all = all.Raw(fmt.Sprintf("page%d", n), one)
	}
	if n == 0 {
		return nil, 0
	}
	return all.End(), n
}

// WithoutAnswers gives the edits that take out of a request's params what a modern client puts into them when it makes
// the request again.
func WithoutAnswers(raw []byte, params wire.Span) []wire.Edit {
	return without(raw, params, nil, "requestState", "inputResponses")
}
