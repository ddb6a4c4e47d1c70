package httpfront

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/incoming"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// exchange is a message and the header of the request that it came in.
type exchange struct {
	incoming.Request
	header    http.Header
	stateless bool // it claims a revision without handshake
}

// read finds the parts of the message, which was scanned. The error is the message's own fault. A revision that is not
// known is none with a handshake: it is answered by the rules of the newest, which has an error for it.
func (x *exchange) read(header http.Header) error {
	x.header = header
	if err := x.Read(); err != nil {
		return err
	}
	given := header[mcp.HeaderProtocolVersion]
	x.stateless = x.Versioned && !eras.Of(x.Version).HasHandshake() || len(given) > 0 && !eras.Of(given[0]).HasHandshake()
	return nil
}

// name is the part of params that the header Mcp-Name repeats.
func (x *exchange) name() wire.Span {
	switch eras.NameMember(x.MethodName) {
	case "name":
		return x.Name
	case "uri":
		return x.URI
	case "taskId":
		return x.TaskID
	}
	return wire.Span{}
}

// checkStateless holds a request of revision 2026-07-28 against its header (specification 2026-07-28, streamable HTTP,
// server validation).
func (x *exchange) checkStateless() *refusal {
	var wrong error
	given := x.header[mcp.HeaderProtocolVersion]
	switch {
	case x.Kind == wire.Notification:
		return nil // no rules are defined for its header
	case x.Kind != wire.Request:
		wrong = &wire.Error{Code: wire.CodeInvalidRequest, Message: "in revision 2026-07-28 clients send no responses: repeat the request with the answers in it"}
	case len(given) != 1:
		wrong = mismatch("%s is missing or given more than once", mcp.HeaderProtocolVersion)
	case !x.Versioned && !eras.IsSpoken(given[0]):
		wrong = eras.Unsupported(given[0])
	case !x.Versioned:
		wrong = &wire.Error{Code: wire.CodeInvalidParams, Message: "params._meta lacks " + eras.Version + ", a string"}
	case given[0] != x.Version:
		wrong = mismatch("%s is %q, but params._meta says %q", mcp.HeaderProtocolVersion, given[0], x.Version)
	case !eras.IsSpoken(x.Version):
		wrong = eras.Unsupported(x.Version)
	case !x.HasCapabilities():
		wrong = &wire.Error{Code: wire.CodeInvalidParams, Message: "params._meta lacks " + eras.Capabilities + ", an object"}
	default:
		wrong = x.checkStandard()
	}
	return refuseMessage(wrong)
}

func mismatch(format string, args ...any) error {
	return &wire.Error{Code: eras.HeaderMismatch, Message: "Header mismatch: " + fmt.Sprintf(format, args...)}
}

// asMismatch gives an error of mcp-go's validation the code it stands for.
func asMismatch(err error) error {
	if err == nil {
		return nil
	}
	return mismatch("%s", strings.TrimPrefix(err.Error(), "header mismatch: "))
}

// checkStandard compares Mcp-Method and Mcp-Name with the body. What is plainly equal is equal; of the rest mcp-go is
// shown only the name, so that params, which may be long, are not decoded.
func (x *exchange) checkStandard() error {
	for _, name := range []string{mcp.HeaderMethod, mcp.HeaderName} {
		given := x.header[name]
		if len(given) > 1 {
			return mismatch("%s is given more than once", name)
		}
		if len(given) == 1 && !isPlainASCII(given[0]) {
			return mismatch("%s holds characters that a header may not have", name)
		}
	}
	if x.header.Get(mcp.HeaderMethod) == x.MethodName {
		name, _ := wire.Unquote(x.Bytes(x.name()))
		given := x.header.Get(mcp.HeaderName)
		if eras.NameMember(x.MethodName) == "" || name != "" && given == name && !strings.HasPrefix(name, "=?") {
			return nil
		}
		if eras.IsOfTasks(x.MethodName) {
			return x.checkTaskName(given, name)
		}
	}
	params := []byte("{}")
	if x.name().Present() {
		key := `{"name":`
		if x.MethodName == "resources/read" {
			key = `{"uri":`
		}
		params = append(append([]byte(key), x.Bytes(x.name())...), '}')
	}
	return asMismatch(mcp.ValidateStandardHeaders(x.header.Get, x.Version, mcp.MCPMethod(x.MethodName), params))
}

// checkTaskName compares Mcp-Name with the id of a task, of which mcp-go does not know. A request without an id is
// refused for that by those who look for the task.
func (x *exchange) checkTaskName(given, id string) error {
	decoded, ok := mcp.DecodeHeaderValue(given)
	switch {
	case !x.name().Present() || ok && given != "" && decoded == id:
		return nil
	case given == "":
		return mismatch("%s is missing: it repeats params.taskId in a request of %s", mcp.HeaderName, x.MethodName)
	}
	return mismatch("%s is %q, but params.taskId says otherwise", mcp.HeaderName, given)
}

// isPlainASCII reports whether a header value has only characters that RFC 9110 lets it have outside of old usage.
func isPlainASCII(value string) bool {
	for i := range len(value) {
		if c := value[i]; c != '\t' && (c < ' ' || c > '~') {
			return false
		}
	}
	return true
}

// checkMirrored compares the Mcp-Param headers of a tools/call with the arguments that the tool's schema has mirrored
// into them.
func (x *exchange) checkMirrored(tool *mcp.Tool) *refusal {
	lookup := func(name string) (string, bool) {
		given := x.header[http.CanonicalHeaderKey(name)]
		if len(given) == 0 {
			return "", false
		}
		return given[0], true
	}
	for _, b := range mcp.ExtractParamHeaderBindings(tool) {
		given := x.header[http.CanonicalHeaderKey(b.HeaderName())]
		if len(given) > 1 || len(given) == 1 && !isPlainASCII(given[0]) {
			return refuseMessage(mismatch("%s is given more than once, or holds characters that a header may not have", b.HeaderName()))
		}
	}
	return refuseMessage(asMismatch(mcp.ValidateParamHeadersLookup(lookup, tool, x.Bytes(x.Params))))
}
