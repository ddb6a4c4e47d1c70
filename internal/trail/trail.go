// Package trail has what happens at a gateway that somebody may want to account for later: who called what, and who was
// turned away. Each is an [Event], which is written as one line of JSON.
package trail

import (
	"encoding/json"
	"io"
	"os"
	"time"

	"github.com/mcp-workbench/workbench/internal/calls"
)

// Kinds of events.
const (
	Start    = "start"    // serving has begun
	Stop     = "stop"     // serving has ended
	Call     = "call"     // a request went to a server, or should have
	Refused  = "refused"  // a request over HTTP was turned away: a token, a right, a host, an origin
	Login    = "login"    // somebody came in by the page, or the login to a server was renewed or could not be
	Approval = "approval" // a person was asked whether a call is to be made
)

// Event is one of them. What is not known or does not belong to it is left out. It has no arguments, results or tokens.
type Event struct {
	Time     calls.Time   `json:"time"`
	Event    string       `json:"event"`
	PID      int          `json:"pid"` // of workbench
	User     string       `json:"user,omitempty"`
	Client   string       `json:"client,omitempty"`
	Session  string       `json:"session,omitempty"`
	Address  string       `json:"address,omitempty"` // of the client, without its port
	Call     string       `json:"call,omitempty"`    // id in the record of calls
	Method   string       `json:"method,omitempty"`  // of MCP, or of HTTP
	Path     string       `json:"path,omitempty"`    // of HTTP
	Toolbox  string       `json:"toolbox,omitempty"`
	Server   string       `json:"server,omitempty"`
	Tool     string       `json:"tool,omitempty"`
	Outcome  string       `json:"outcome,omitempty"` // of a call, as metrics have it; of an approval: agreed, refused, late; of a login: entered, renewed, refused
	Status   int          `json:"status,omitempty"`  // of HTTP
	Duration calls.Millis `json:"duration_ms,omitzero"`
	In       int          `json:"bytes_in,omitempty"`
	Out      int          `json:"bytes_out,omitempty"`
	Err      string       `json:"err,omitempty"`
	Version  string       `json:"version,omitempty"` // of workbench
	Config   string       `json:"config,omitempty"`  // path of the configuration
	URL      string       `json:"url,omitempty"`     // that is served
}

// OfCall is the event of a call that has ended.
func OfCall(c *calls.Call) Event {
	return Event{Event: Call, User: c.User, Client: c.Client, Session: c.Session, Address: c.Address, Call: c.ID, Method: c.Method, Toolbox: c.Toolbox,
		Server: c.Server, Tool: c.Tool, Outcome: c.Outcome, Duration: c.Duration, In: c.In, Out: c.Out, Err: c.Error}
}

// Writer gives what writes events to out, a line each with one Write. It may be called from any goroutine if out may.
func Writer(out io.Writer) func(Event) {
	return func(e Event) {
		e.Time, e.PID = calls.Time{Time: time.Now()}, os.Getpid()
		if line, err := json.Marshal(e); err == nil {
			_, _ = out.Write(append(line, '\n')) // of a file that cannot be written nothing is lost but that
		}
	}
}
