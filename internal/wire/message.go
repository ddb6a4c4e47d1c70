package wire

import "bytes"

// Kind tells what a message is.
type Kind uint8

// The kinds of message. The zero value is Invalid.
const (
	Invalid      Kind = iota
	Request           // has a method and an id
	Notification      // has a method and no id
	Result            // answers a request with a result
	Failure           // answers a request with an error
)

// String returns the name of the kind in lower case.
func (k Kind) String() string {
	return [...]string{Invalid: "invalid", Request: "request", Notification: "notification", Result: "result", Failure: "failure"}[k]
}

// Span is a range of bytes: raw[Start:End]. The zero Span means absent; every value found in a message has at least one
// byte.
type Span struct{ Start, End int }

// At returns the empty span before the byte at pos, which must not be 0. An [Edit] of it inserts.
func At(pos int) Span { return Span{pos, pos} }

// Present reports whether s covers at least one byte.
func (s Span) Present() bool { return s.End > s.Start }

// Message is one JSON-RPC message: its bytes and where its parts lie in them. Envelope members that JSON-RPC does not
// name stay in Raw and are otherwise ignored.
type Message struct {
	Raw  []byte
	Kind Kind

	// ID is the raw token, quotes included: a string or a number. It is absent in a notification. In a Failure it may
	// be absent or the token null, for a fault that could not be tied to a request.
	ID Span

	// Method is the text between the quotes; it holds no escapes.
	Method Span

	// Params is an object where present. Result is any value, Error an object.
	Params, Result, Error Span

	// SaysError is whether Result is an object in which isError is true, once and written like this: the result of a
	// tool that failed.
	SaysError bool

	// room[at:] begins with Raw where a Reader lent the bytes around it.
	room []byte
	at   int
}

// Bytes returns the bytes of s, which share memory with m.Raw, or nil if s is absent. Appending to them reallocates.
func (m *Message) Bytes(s Span) []byte {
	if !s.Present() {
		return nil
	}
	return m.Raw[s.Start:s.End:s.End]
}

// Clone gives m with bytes of its own.
func (m *Message) Clone() *Message {
	own := *m
	own.Raw, own.room = bytes.Clone(m.Raw), nil
	return &own
}

// IsMethod reports whether m is a request or a notification of the named method.
func (m *Message) IsMethod(name string) bool {
	return (m.Kind == Request || m.Kind == Notification) &&
		string(m.Raw[m.Method.Start:m.Method.End]) == name
}
