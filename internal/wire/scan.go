package wire

import (
	"bytes"
	"fmt"
)

// MaxDepth is how many objects and arrays may be nested in a message, the message itself included.
const MaxDepth = 512

// Scan reads one message and fills *m, which the caller may use again for the next. It keeps raw in m.Raw, and
// allocates only to report an error.
//
// The error is an [*Error]. Its code is [CodeParse], with the offset of the fault, where raw is not JSON as RFC 8259
// has it, in valid UTF-8. A lone surrogate escape (\ud800) is legal JSON and accepted. The code is [CodeInvalidRequest]
// where raw is JSON but not one JSON-RPC 2.0 message as MCP has them: params is an object, an id is a string or a
// number, batches do not exist. A message that breaks rules of both kinds is a parse error.
//
// After an error m.Kind is Invalid. With CodeInvalidRequest the spans tell what could be read, and the error's ID is
// the id: where m has a Result or an Error and no Method it is the id of a request that was answered badly, and must
// not be answered itself.
func Scan(raw []byte, m *Message) error {
	*m = Message{Raw: raw}
	i := space(raw, 0)
	if i == len(raw) {
		return parseError(i, faultEnd)
	}
	if raw[i] != '{' {
		return scanOther(raw, i)
	}
	var e envelope
	i, f := e.scan(raw, i)
	m.ID, m.Method, m.Params = e.spans[partID], e.spans[partMethod], e.spans[partParams]
	m.Result, m.Error = e.spans[partResult], e.spans[partError]
	if err := ended(raw, i, f, e.id(raw)); err != nil {
		return err
	}
	kind, broken := e.check(raw)
	if broken != "" {
		return invalid(broken, e.id(raw))
	}
	if m.Method.Present() {
		m.Method = inside(m.Method)
	}
	m.Kind, m.SaysError = kind, e.saysError
	return nil
}

// scanOther tells why a message that is no object is refused.
func scanOther(raw []byte, i int) error {
	end, f := value(raw, i, 0)
	if err := ended(raw, end, f, nil); err != nil {
		return err
	}
	if raw[i] == '[' {
		return invalid("batches are not spoken here, as in no MCP revision but 2025-03-26: send one message at a time", nil)
	}
	return invalid("a message is an object", nil)
}

// ended returns the error for the fault f at i, or for what follows a message that ended at i.
func ended(raw []byte, i int, f fault, id []byte) error {
	if f == faultDepth {
		return invalid(fmt.Sprintf("nested deeper than %d levels", MaxDepth), id)
	}
	if f != faultNone {
		return parseError(i, f)
	}
	if i = space(raw, i); i < len(raw) {
		return parseError(i, faultTrailing)
	}
	return nil
}

func parseError(at int, f fault) error {
	return &Error{Code: CodeParse, Message: fmt.Sprintf("parse error at byte %d: %s", at, f)}
}

func invalid(why string, id []byte) error {
	return &Error{Code: CodeInvalidRequest, Message: "invalid request: " + why, ID: bytes.Clone(id)}
}

// part is a member of the envelope.
type part int

const (
	partVersion part = iota
	partID
	partMethod
	partParams
	partResult
	partError
	parts
)

func (p part) String() string {
	return [parts]string{"jsonrpc", "id", "method", "params", "result", "error"}[p]
}

// partOf returns the part a member name stands for, or that another decoder may take it for. The name is the text
// between the quotes.
func partOf(name []byte) (part, likeness) {
	switch string(name) {
	case "jsonrpc":
		return partVersion, keyEqual
	case "id":
		return partID, keyEqual
	case "method":
		return partMethod, keyEqual
	case "params":
		return partParams, keyEqual
	case "result":
		return partResult, keyEqual
	case "error":
		return partError, keyEqual
	}
	for p := range parts {
		if like := compareKey(name, p.String()); like != keyDiffers {
			return p, like
		}
	}
	return parts, keyDiffers
}

// envelope is what a scan has found of a message: where its parts are, and the first rule its members break. That is
// reported last, because what follows may still turn out not to be JSON, and because the id may follow.
type envelope struct {
	spans  [parts]Span
	twice  [parts]bool
	broken string

	ofError, saysError bool // the result has a member isError; it has one, and that is true
}

// scan reads the object at i, and returns where it ends or where its fault lies.
func (e *envelope) scan(raw []byte, i int) (int, fault) {
	return members(raw, i, func(name Span, next int) (end int, f fault) {
		if string(raw[name.Start:name.End]) == "result" && next < len(raw) && raw[next] == '{' {
			end, f = e.scanResult(raw, next)
		} else {
			end, f = value(raw, next, 1)
		}
		if f == faultNone {
			e.member(raw, name, Span{next, end})
		}
		return end, f
	})
}

// scanResult does the same for a result that is an object.
func (e *envelope) scanResult(raw []byte, i int) (int, fault) {
	return members(raw, i, func(name Span, next int) (int, fault) {
		end, f := value(raw, next, 2)
		if like := compareKey(raw[name.Start:name.End], "isError"); like != keyDiffers && f == faultNone {
			e.saysError = like == keyEqual && !e.ofError && string(raw[next:end]) == "true"
			e.ofError = true
		}
		return end, f
	})
}

// members checks the object at i, but for the values of its members, of which check is given the text of the name and
// where the value starts: it returns what members does, which is where it ends or where the fault lies.
func members(raw []byte, i int, check func(name Span, next int) (int, fault)) (int, fault) {
	i = space(raw, i+1)
	if i < len(raw) && raw[i] == '}' {
		return i + 1, faultNone
	}
	for {
		end, next, f := key(raw, i)
		if f != faultNone {
			return next, f
		}
		if end, f = check(inside(Span{i, end}), next); f != faultNone {
			return end, f
		}
		if i = space(raw, end); i == len(raw) {
			return i, faultEnd
		}
		if raw[i] == '}' {
			return i + 1, faultNone
		}
		if raw[i] != ',' {
			return i, faultComma
		}
		i = space(raw, i+1)
	}
}

// inside returns the span of the text of a string token.
func inside(token Span) Span { return Span{token.Start + 1, token.End - 1} }

func (e *envelope) member(raw []byte, name, val Span) {
	p, like := partOf(raw[name.Start:name.End])
	switch {
	case like == keyDiffers:
	case like == keyFolds:
		e.breaks("member names are case-sensitive: " + p.String())
	case e.spans[p].Present():
		e.twice[p] = true
		e.breaks("duplicate member: " + p.String())
	default:
		e.spans[p] = val
	}
}

func (e *envelope) breaks(rule string) {
	if e.broken == "" {
		e.broken = rule
	}
}

func (e *envelope) has(p part) bool { return e.spans[p].Present() }

// first returns the first byte of a part, which tells its type, or 0.
func (e *envelope) first(raw []byte, p part) byte {
	if !e.has(p) {
		return 0
	}
	return raw[e.spans[p].Start]
}

// id returns the id's token if it is one that can be answered to, or nil.
func (e *envelope) id(raw []byte) []byte {
	if e.twice[partID] || !isID(e.first(raw, partID)) {
		return nil
	}
	return raw[e.spans[partID].Start:e.spans[partID].End]
}

// isID reports whether a token that begins with c is a string or a number.
func isID(c byte) bool { return c == '"' || c == '-' || '0' <= c && c <= '9' }

// check returns the kind of the message, or the rule of JSON-RPC it breaks.
func (e *envelope) check(raw []byte) (Kind, string) {
	version := e.spans[partVersion]
	result, failure := e.has(partResult), e.has(partError)
	switch {
	case e.broken != "":
		return Invalid, e.broken
	case string(raw[version.Start:version.End]) != `"2.0"`:
		return Invalid, `jsonrpc must be "2.0"`
	case e.has(partMethod) && (result || failure):
		return Invalid, "a message has a method or an answer, not both"
	case e.has(partMethod):
		return e.checkCall(raw)
	case result && failure:
		return Invalid, "an answer has a result or an error, not both"
	case result:
		if !isID(e.first(raw, partID)) {
			return Invalid, "id must be a string or a number"
		}
		return Result, ""
	case failure:
		return e.checkFailure(raw)
	}
	return Invalid, "a message has a method, a result or an error"
}

func (e *envelope) checkCall(raw []byte) (Kind, string) {
	token := e.spans[partMethod]
	if raw[token.Start] != '"' || !inside(token).Present() {
		return Invalid, "method must be a string that is not empty"
	}
	if bytes.IndexByte(raw[token.Start:token.End], '\\') >= 0 {
		return Invalid, "method must be written without escapes"
	}
	if e.has(partParams) && e.first(raw, partParams) != '{' {
		return Invalid, "params must be an object"
	}
	if !e.has(partID) {
		return Notification, ""
	}
	if !isID(e.first(raw, partID)) {
		return Invalid, "id must be a string or a number"
	}
	return Request, ""
}

// checkFailure allows a failure without an id, or with the id null: JSON-RPC (§5) has it so where the request could not
// be read, and MCP since 2025-11-25.
func (e *envelope) checkFailure(raw []byte) (Kind, string) {
	if e.first(raw, partError) != '{' {
		return Invalid, "error must be an object"
	}
	if c := e.first(raw, partID); c != 0 && c != 'n' && !isID(c) {
		return Invalid, "id must be a string, a number or null"
	}
	return Failure, ""
}
