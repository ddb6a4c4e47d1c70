package wire

import (
	"errors"
)

// The error codes JSON-RPC 2.0 defines (§5.1).
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
)

var (
	// ErrFull is returned by [Outbox.Offer] when more than the limit is queued.
	ErrFull = errors.New("outbox is full")
	// ErrClosed is the error of an [Outbox] after Close.
	ErrClosed = errors.New("outbox is closed")
	// ErrStalled is returned by [Serve] when the peer has stopped reading.
	ErrStalled = errors.New("peer does not read its messages")
	// ErrGone is returned by [Serve] when nobody can read what is sent to the peer.
	ErrGone = errors.New("peer is gone: nobody can read messages to it any more")
)

// Error is a fault of a message, ready to be answered with.
type Error struct {
	Code    int
	Message string
	Data    []byte // a raw value, or nil
	ID      []byte // a copy of the id token, or nil where it could not be read
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// AsError gives the Error that err is or wraps; any other is an internal one.
func AsError(err error) *Error {
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Code: CodeInternal, Message: err.Error()}
	}
	return e
}

// Append appends the error response for e to dst.
func (e *Error) Append(dst []byte) []byte {
	return AppendError(dst, e.ID, e.Code, e.Message, e.Data)
}

// AppendError appends an error response. A nil id is sent as null, a nil data is left out; id and data are raw tokens.
func AppendError(dst, id []byte, code int, message string, data []byte) []byte {
	return Object(AppendFault(appendEnvelope(dst, id).Member("error"), code, message, data)).End()
}

// AppendFault appends what an error response says of the error. Nil data is left out; data is a raw token.
func AppendFault(dst []byte, code int, message string, data []byte) []byte {
	o := NewObject(dst).Int("code", int64(code)).Text("message", message)
	if data != nil {
		o = o.Raw("data", data)
	}
	return o.End()
}

// AppendResult appends a successful response; id and result are raw tokens.
func AppendResult(dst, id, result []byte) []byte {
	return appendEnvelope(dst, id).Raw("result", result).End()
}

func appendEnvelope(dst, id []byte) Object {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	if id == nil {
		return append(dst, "null"...)
	}
	return append(dst, id...)
}
