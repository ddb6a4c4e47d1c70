package command

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// A Binding is what a command does: exactly one of the three is set.
type Binding struct {
	Tool    *ToolCall
	HTTP    *HTTPCall
	Process *ProcessCall
}

// ToolCall calls a tool of a server in a toolbox. Without arguments of its own it passes the parameters on as they are.
type ToolCall struct {
	Toolbox, Server, Tool string

	arguments *tree
}

// HTTPCall makes an HTTP request.
type HTTPCall struct {
	Method  string
	Timeout time.Duration // 0 leaves it to the runner

	url    *template
	header []member
	body   *tree
}

// ProcessCall runs a program. It is given a list of arguments, never a command line.
type ProcessCall struct {
	Timeout time.Duration // 0 leaves it to the runner

	argv  []*template
	env   []member
	stdin *tree
}

// Caller calls the tools of servers. It is called from many goroutines.
type Caller interface {
	// CallTool returns the result of tools/call as the server sent it. The error says why there is none, in words for a
	// model.
	CallTool(ctx context.Context, toolbox, server, tool string, arguments json.RawMessage) (json.RawMessage, error)
}

// HTTPRequest is a request with its values filled in.
type HTTPRequest struct {
	Method, URL string
	Header      map[string]string
	Body        []byte        // nil: none
	Timeout     time.Duration // 0: the runner's
}

// HTTPRunner makes the requests of commands that are bound to HTTP.
type HTTPRunner interface {
	// Do returns the status and the body of the answer, whatever the status.
	Do(ctx context.Context, r HTTPRequest) (status int, body []byte, err error)
}

// ProcessRequest is a process with its values filled in.
type ProcessRequest struct {
	Argv    []string
	Env     []string // KEY=VALUE, beside what every process gets
	Stdin   []byte
	Timeout time.Duration // 0: the runner's
}

// ProcessRunner runs the processes of commands that are bound to one.
type ProcessRunner interface {
	// Run waits for the end of the process and returns what it wrote to standard output. A process that fails is an
	// error, with the end of what it wrote to standard error.
	Run(ctx context.Context, r ProcessRequest) (stdout []byte, err error)
}

// errNoRunner says that commands of a kind are not carried out here.
var errNoRunner = errors.New("is not allowed here; only workflows of a folder that the configuration names may do that")
