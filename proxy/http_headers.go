package proxy

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// codeHeaderMismatch and codeMissingCapability are errors of revision
// 2026-07-28 that have an HTTP status of their own.
const (
	codeHeaderMismatch    = -32020
	codeMissingCapability = -32021
)

// exchange is a message and what of its request's header and metadata decides
// how it is served.
type exchange struct {
	wire.Message
	header       http.Header
	method       string
	name         wire.Span // params.name, params.uri or params.taskId
	version      string    // in params._meta; "" for none
	versioned    bool      // there is one
	capabilities bool      // params._meta has the client's capabilities
	modern       bool      // it claims a revision without handshake
}

// read finds these parts of the message, which was scanned. The error is the
// message's own fault.
func (x *exchange) read(header http.Header) error {
	m := &x.Message
	x.header = header
	if m.Kind == wire.Request || m.Kind == wire.Notification {
		x.method = method(m)
	}
	if m.Params.Present() {
		key := eras.NameMember(x.method)
		if key == "" {
			key = "name"
		}
		var out [2]wire.Span
		if err := wire.Find(m.Raw, m.Params, []string{key, "_meta"}, out[:]); err != nil {
			return err
		}
		x.name = out[0]
		if out[1].Present() && m.Raw[out[1].Start] == '{' {
			if err := x.readMeta(out[1]); err != nil {
				return err
			}
		}
	}
	given := header[mcp.HeaderProtocolVersion]
	x.modern = x.versioned && isModernClaim(x.version) || len(given) > 0 && isModernClaim(given[0])
	return nil
}

func (x *exchange) readMeta(meta wire.Span) error {
	var out [2]wire.Span
	if err := wire.Find(x.Raw, meta, []string{eras.Version, eras.Capabilities}, out[:]); err != nil {
		return err
	}
	x.version, x.versioned = wire.Unquote(x.Bytes(out[0]))
	x.capabilities = out[1].Present() && x.Raw[out[1].Start] == '{'
	return nil
}

// isModernClaim reports whether a version is not of those with a handshake:
// what is not known is answered by the rules of the newest revision, which has
// an error for it.
func isModernClaim(version string) bool {
	return mcp.IsModernProtocol(version) || !mcp.IsValidProtocolVersion(version)
}

// checkModern holds a request of revision 2026-07-28 against its header
// (specification 2026-07-28, streamable HTTP, server validation).
func (x *exchange) checkModern() *refusal {
	var wrong error
	given := x.header[mcp.HeaderProtocolVersion]
	switch {
	case x.Kind == wire.Notification:
		return nil // no rules are defined for its header
	case x.Kind != wire.Request:
		wrong = &wire.Error{Code: wire.CodeInvalidRequest, Message: "revision 2026-07-28 has no responses of clients: answers are part of the retried request"}
	case len(given) != 1:
		wrong = mismatch("%s is missing or given more than once", mcp.HeaderProtocolVersion)
	case !x.versioned && !mcp.IsValidProtocolVersion(given[0]):
		wrong = unsupportedVersion(given[0])
	case !x.versioned:
		wrong = &wire.Error{Code: wire.CodeInvalidParams, Message: "params._meta lacks " + eras.Version + ", a string"}
	case given[0] != x.version:
		wrong = mismatch("%s is %q, but params._meta says %q", mcp.HeaderProtocolVersion, given[0], x.version)
	case !mcp.IsValidProtocolVersion(x.version):
		wrong = unsupportedVersion(x.version)
	case !x.capabilities:
		wrong = &wire.Error{Code: wire.CodeInvalidParams, Message: "params._meta lacks " + eras.Capabilities + ", an object"}
	default:
		wrong = x.checkStandard()
	}
	return x.refuse(wrong)
}

// refuse makes a refusal of an error, nil of none.
func (x *exchange) refuse(err error) *refusal {
	var bad *wire.Error
	if !errors.As(err, &bad) {
		return nil
	}
	r := &refusal{status: http.StatusBadRequest, error: *bad}
	if x.Kind == wire.Request {
		r.id = x.Bytes(x.ID)
	}
	return r
}

func mismatch(format string, args ...any) error {
	return &wire.Error{Code: codeHeaderMismatch, Message: "Header mismatch: " + fmt.Sprintf(format, args...)}
}

// asMismatch gives an error of mcp-go's validation the code it stands for.
func asMismatch(err error) error {
	if err == nil {
		return nil
	}
	return mismatch("%s", strings.TrimPrefix(err.Error(), "header mismatch: "))
}

// checkStandard compares Mcp-Method and Mcp-Name with the body. What is plainly
// equal is equal; of the rest mcp-go is shown only the name, so that params,
// which may be long, are not decoded.
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
	if x.header.Get(mcp.HeaderMethod) == x.method {
		name, _ := wire.Unquote(x.Bytes(x.name))
		given := x.header.Get(mcp.HeaderName)
		if eras.NameMember(x.method) == "" || name != "" && given == name && !strings.HasPrefix(name, "=?") {
			return nil
		}
		if eras.IsOfTasks(x.method) {
			return x.checkTaskName(given, name)
		}
	}
	params := []byte("{}")
	if x.name.Present() {
		key := `{"name":`
		if x.method == "resources/read" {
			key = `{"uri":`
		}
		params = append(append([]byte(key), x.Bytes(x.name)...), '}')
	}
	return asMismatch(mcp.ValidateStandardHeaders(x.header.Get, x.version, mcp.MCPMethod(x.method), params))
}

// checkTaskName compares Mcp-Name with the id of a task, of which mcp-go does not know. A request without an id is refused
// for that by those who look for the task.
func (x *exchange) checkTaskName(given, id string) error {
	decoded, ok := mcp.DecodeHeaderValue(given)
	switch {
	case !x.name.Present() || ok && given != "" && decoded == id:
		return nil
	case given == "":
		return mismatch("%s is missing: it repeats params.taskId in a request of %s", mcp.HeaderName, x.method)
	}
	return mismatch("%s is %q, but params.taskId says otherwise", mcp.HeaderName, given)
}

// isPlainASCII reports whether a header value has only characters that RFC 9110
// lets it have outside of old usage.
func isPlainASCII(value string) bool {
	for i := range len(value) {
		if c := value[i]; c != '\t' && (c < ' ' || c > '~') {
			return false
		}
	}
	return true
}

// checkMirrored compares the Mcp-Param headers of a tools/call with the
// arguments that the tool's schema has mirrored into them.
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
			return x.refuse(mismatch("%s is given more than once, or holds characters that a header may not have", b.HeaderName()))
		}
	}
	return x.refuse(asMismatch(mcp.ValidateParamHeadersLookup(lookup, tool, x.Bytes(x.Params))))
}
