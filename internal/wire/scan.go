package wire

import (
	"fmt"
)

// MaxDepth is how many objects and arrays may be nested in a message, the
// message itself included.
const MaxDepth = 512

// Scan reads one message and fills *m, which the caller may use again for the
// next one. It does not keep raw beyond *m, and allocates only to report an
// error.
//
// The error is an [*Error]. Its code is [CodeParse], with the offset of the
// fault, where raw is not strictly valid JSON: RFC 8259, in valid UTF-8. A lone
// surrogate escape (\ud800) is legal JSON and accepted. The code is
// [CodeInvalidRequest] where raw is JSON but not one JSON-RPC 2.0 message as MCP
// has them: params is an object, an id is a string or a number, batches do not
// exist. Grammar goes first: a message that breaks both rules is a parse error.
// After an error m.Kind is Invalid.
func Scan(raw []byte, m *Message) error {
	*m = Message{Raw: raw}
	i := space(raw, 0)
	if i >= len(raw) {
		return parseError(i, faultEnd)
	}
	if raw[i] != '{' {
		return scanOther(raw, i)
	}
	env := envelope{m: m}
	end, f := env.members(raw, i+1)
	if f == faultDepth {
		return env.refuse("message is nested deeper than 512 levels")
	}
	if f != faultNone {
		return parseError(end, f)
	}
	if end = space(raw, end); end < len(raw) {
		return parseError(end, faultTrailing)
	}
	return env.classify()
}

// scanOther tells why a message that is no object is refused.
func scanOther(raw []byte, i int) error {
	batch := raw[i] == '['
	end, f := value(raw, i, 0)
	if f == faultDepth {
		return &Error{Code: CodeInvalidRequest, Message: "message is nested deeper than 512 levels"}
	}
	if f != faultNone {
		return parseError(end, f)
	}
	if end = space(raw, end); end < len(raw) {
		return parseError(end, faultTrailing)
	}
	if batch {
		return &Error{Code: CodeInvalidRequest, Message: "batches are not supported by the MCP revisions spoken here: send one message at a time"}
	}
	return &Error{Code: CodeInvalidRequest, Message: "message is not an object"}
}

func parseError(at int, f fault) error {
	return &Error{Code: CodeParse, Message: fmt.Sprintf("parse error at byte %d: %s", at, f)}
}

// envelope is the state of a scan: the message so far and the first rule of
// JSON-RPC it broke. That rule is reported at the end, because the rest may
// still turn out not to be JSON, and because the id may follow.
type envelope struct {
	m       *Message
	version Span
	broken  string
	twice   bool // the id appears twice, so neither may be answered to
}

func (e *envelope) breaks(rule string) {
	if e.broken == "" {
		e.broken = rule
	}
}

// members reads the members of the envelope from behind its opening brace, and
// returns where the object ends.
func (e *envelope) members(raw []byte, i int) (int, fault) {
	i = space(raw, i)
	if i < len(raw) && raw[i] == '}' {
		return i + 1, faultNone
	}
	for {
		if i >= len(raw) {
			return i, faultEnd
		}
		if raw[i] != '"' {
			return i, faultKey
		}
		end, f := text(raw, i+1)
		if f != faultNone {
			return end, f
		}
		key := Span{i + 1, end - 1}
		if i = space(raw, end); i >= len(raw) {
			return i, faultEnd
		}
		if raw[i] != ':' {
			return i, faultColon
		}
		i = space(raw, i+1)
		if end, f = value(raw, i, 1); f != faultNone {
			return end, f
		}
		e.member(raw[key.Start:key.End], Span{i, end})
		if i = space(raw, end); i >= len(raw) {
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

// member notes one member; key is the text between the quotes.
func (e *envelope) member(key []byte, val Span) {
	switch string(key) {
	case "jsonrpc":
		e.set(&e.version, val, "jsonrpc")
	case "id":
		e.twice = e.twice || e.m.ID.Present()
		e.set(&e.m.ID, val, "id")
	case "method":
		e.set(&e.m.Method, val, "method")
	case "params":
		e.set(&e.m.Params, val, "params")
	case "result":
		e.set(&e.m.Result, val, "result")
	case "error":
		e.set(&e.m.Error, val, "error")
	default:
		e.stranger(key, val)
	}
}

func (e *envelope) set(s *Span, val Span, name string) {
	if s.Present() {
		e.breaks("duplicate member " + name)
		return
	}
	*s = val
}

// stranger looks at a key that is not literally one of the envelope's: it may
// still be one to another decoder.
func (e *envelope) stranger(key []byte, val Span) {
	for _, name := range [...]string{"jsonrpc", "id", "method", "params", "result", "error"} {
		switch compareKey(key, name) {
		case keyEqual:
			e.member([]byte(name), val)
			return
		case keyFolds:
			e.breaks("member names are case-sensitive: " + name)
			return
		}
	}
}

// classify checks the rules of JSON-RPC on a message that is valid JSON.
func (e *envelope) classify() error {
	m := e.m
	kind := e.kind()
	e.checkVersion()
	if e.broken != "" {
		return e.refuse(e.broken)
	}
	m.Kind = kind
	return nil
}

func (e *envelope) checkVersion() {
	v := e.m.Raw[e.version.Start:e.version.End]
	if string(v) == `"2.0"` {
		return
	}
	if s, ok := Unquote(v); ok && s == "2.0" {
		return
	}
	e.breaks(`jsonrpc must be "2.0"`)
}

func (e *envelope) kind() Kind {
	m := e.m
	if m.Params.Present() && m.Raw[m.Params.Start] != '{' {
		e.breaks("params must be an object")
	}
	if m.Error.Present() && m.Raw[m.Error.Start] != '{' {
		e.breaks("error must be an object")
	}
	answer := m.Result.Present() || m.Error.Present()
	switch {
	case m.Method.Present() && answer:
		e.breaks("a message has a method or a result or an error, not two of them")
	case m.Method.Present():
		e.method()
		if !m.ID.Present() {
			return Notification
		}
		e.id()
		return Request
	case m.Result.Present() && m.Error.Present():
		e.breaks("a response has a result or an error, not both")
	case m.Result.Present():
		e.id()
		return Result
	case m.Error.Present():
		if m.ID.Present() && m.Raw[m.ID.Start] != 'n' {
			e.id()
		}
		return Failure
	default:
		e.breaks("message has no method, result or error")
	}
	return Invalid
}

// method checks the method and narrows its span to the text.
func (e *envelope) method() {
	m := e.m
	s := Span{m.Method.Start + 1, m.Method.End - 1}
	if m.Raw[m.Method.Start] != '"' || !s.Present() {
		e.breaks("method must be a non-empty string")
		return
	}
	for _, c := range m.Raw[s.Start:s.End] {
		if c == '\\' {
			e.breaks("method must be written without escapes")
			return
		}
	}
	m.Method = s
}

func (e *envelope) id() {
	if !e.answerable() {
		e.breaks("id must be a string or a number")
	}
}

// answerable reports whether the id is one a response can carry.
func (e *envelope) answerable() bool {
	if !e.m.ID.Present() || e.twice {
		return false
	}
	return isID(e.m.Raw[e.m.ID.Start])
}

// isID reports whether a token that begins with c is a string or a number.
func isID(c byte) bool { return c == '"' || c == '-' || '0' <= c && c <= '9' }

func (e *envelope) refuse(why string) error {
	err := &Error{Code: CodeInvalidRequest, Message: "invalid request: " + why}
	if e.answerable() {
		err.ID = append([]byte(nil), e.m.Bytes(e.m.ID)...)
	}
	return err
}
