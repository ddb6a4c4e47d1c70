package proxy

import (
	"errors"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/results"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Outlet is where the messages of one request go: the client's connection on stdio, the stream of its own POST over
// HTTP.
type Outlet interface {
	// Message sends something that belongs to the request and comes before its reply: progress, a question of the
	// server, a log line. The callee copies msg.
	Message(msg []byte)
	// Behind reports whether the client has much of it still to read.
	Behind() bool
	// Finish sends the reply, after which nothing comes; nil means that the request ended without one.
	Finish(reply []byte)
	// From says where the request came from.
	From() Origin
}

// Origin is where a request came from.
type Origin struct {
	Pipe    bool   // the client's own connection to this process, and not a network
	Address string // of a client over HTTP
	Guest   bool   // another program of the same user asks, beside the client
	Script  bool   // a script of the client calls a tool
}

// errorReply is the answer to a request that failed.
func errorReply(id []byte, err error) []byte {
	bad := wire.AsError(err)
	return wire.AppendError(nil, id, bad.Code, bad.Message, bad.Data)
}

// toolError is the result of a tool call that failed here, as text that the model reads.
func toolError(text string, e eras.Era) []byte {
	return textResult(e, text).True("isError").End()
}

// textResult begins the result of a tool call that is answered here by its content.
func textResult(e eras.Era, texts ...string) wire.Object {
	content := []byte{'['}
	for _, text := range texts {
		content = results.AppendText(wire.Comma(content), text)
	}
	return e.Result(false).Raw("content", append(content, ']'))
}

// progress is a notification for the request of a token; how much is a number, and said may be empty.
func progress(token, much []byte, said string) []byte {
	params := wire.NewObject(nil).Raw("progressToken", token).Raw("progress", much)
	if said != "" {
		params = params.Text("message", said)
	}
	return wire.AppendNotification(nil, "notifications/progress", params.End())
}

// errMuch refuses what more would have to be kept for than one client or user may have kept.
var errMuch = errors.New("too much is stored for this client or its user: wait for requests to finish, read their answers, or end subscriptions or sessions")

// text gives the message of an error without its JSON-RPC code.
func text(err error) string { return wire.AsError(err).Message }
