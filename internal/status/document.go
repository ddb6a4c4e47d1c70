package status

import (
	"github.com/mcp-workbench/workbench/internal/calls"
	"iter"
	"slices"
	"time"
)

// List is what workbench status --json prints.
type List struct {
	Workbenches []Workbench `json:"workbenches"`
}

// Workbench is one process that serves.
type Workbench struct {
	PID     int       `json:"pid"`
	Version string    `json:"version"`
	Dir     string    `json:"dir,omitempty"` // its working directory
	Since   time.Time `json:"since"`
	Address string    `json:"address,omitempty"`   // URL of its HTTP front; "" on standard input and output
	RSS     int64     `json:"rss_bytes,omitempty"` // memory in use; 0 where that is not known
	// ConfigProblem is what is wrong with the configuration file as it is now, so that the one before goes on; "" if
	// nothing is.
	ConfigProblem string  `json:"config_problem,omitempty"`
	Reloaded      *Reload `json:"reloaded,omitempty"` // the last time that the configuration was; nil if it never was
	Front
}

// Reload is one at which something had changed.
type Reload struct {
	At      time.Time `json:"at"`
	Changed string    `json:"changed"` // names alone, no values
}

// Front is what a front says of itself.
type Front struct {
	Config  string `json:"config"`            // path of the configuration; "" for the built-in one
	Project string `json:"project,omitempty"` // path of the project's configuration, where that stands beside it
	// Untrusted says which configuration of a project is there and not used, and what the user can do; "" if none is.
	Untrusted string    `json:"untrusted,omitempty"`
	Sessions  []Session `json:"sessions"`         // the oldest first
	Shared    []Toolbox `json:"shared,omitempty"` // the servers that all sessions share
	Calls     []Calls   `json:"calls"`            // of all sessions, those that have ended among them
	// Users are the same by who made them, a bounded number; Limited are their calls beyond those that they may make;
	// Refused are requests over HTTP that were turned away, by status.
	Users   map[string]Outcomes `json:"-"`
	Limited map[string]uint64   `json:"-"`
	Refused map[int]uint64      `json:"-"`
}

// Session is one client and the toolboxes opened for it.
type Session struct {
	Client    string    `json:"client"` // its name, "" before it said so
	Version   string    `json:"client_version,omitempty"`
	Revision  string    `json:"revision"`         // of the protocol
	User      string    `json:"user,omitempty"`   // whose it is; "" on standard input and output, and of who has the token of the front
	Direct    string    `json:"direct,omitempty"` // the one toolbox it is served
	Since     time.Time `json:"since"`
	InFlight  int       `json:"in_flight"` // its requests that are not answered
	Kept      Kept      `json:"kept"`
	Unread    int64     `json:"unread_bytes,omitempty"` // what was sent to it, and is still to read
	Toolboxes []Toolbox `json:"toolboxes"`              // in the order of the configuration
}

// Toolbox is an open toolbox, or the shared part of one.
type Toolbox struct {
	Name    string   `json:"name"`
	Servers []Server `json:"servers"`
}

// Server is where one server stands.
type Server struct {
	Name   string     `json:"name"`
	State  string     `json:"state"` // as toolbox.State has it
	Since  time.Time  `json:"since"`
	Cause  string     `json:"cause,omitempty"`    // why it is not ready
	Next   *time.Time `json:"next_try,omitempty"` // when it is tried again
	Advice string     `json:"advice,omitempty"`   // what to do, for a state that needs it
	Notes  []string   `json:"notes,omitempty"`    // what is odd about it
	PID    int        `json:"pid,omitempty"`      // of a child process
	Era    string     `json:"era,omitempty"`      // "legacy" or "modern", of one that is ready
	Tools  int        `json:"tools"`
	Tokens int        `json:"tokens"` // that the definitions of its tools cost a model, about
	Starts int        `json:"starts"`

	InFlight int    `json:"in_flight"` // requests that it has and has not answered
	Queued   int    `json:"queued"`    // requests that wait to be sent to it
	Kept     Kept   `json:"kept"`
	Late     uint64 `json:"late,omitempty"`    // replies that nobody waited for any more
	Unknown  uint64 `json:"unknown,omitempty"` // replies to what was never asked
	Noise    uint64 `json:"noise,omitempty"`   // lines that were not messages
	Dropped  uint64 `json:"dropped,omitempty"` // notifications left out because there were too many
}

// Line is a line that a server wrote to standard error, or that is said of it.
type Line struct {
	calls.Line
	Session string `json:"session,omitempty"` // whose server it is; "" if sessions share it
	Toolbox string `json:"toolbox"`
	Server  string `json:"server"`
	Missed  uint64 `json:"missed,omitempty"` // lines in the place of this one that came too fast
}

// Restarts says what became of a restart.
type Restarts struct {
	Restarts []Restart `json:"restarts"`
}

// Restart is that of one server.
type Restart struct {
	Session string `json:"session,omitempty"`
	Toolbox string `json:"toolbox"`
	Server  string `json:"server"`
	Before  string `json:"before"`          // the state that it was in
	Error   string `json:"error,omitempty"` // why it is not started anew
}

// Kept is what is kept because of a server or a client, which its account allows.
type Kept struct {
	Bytes   int64  `json:"bytes"`
	Refused uint64 `json:"refused,omitempty"` // how often there was no room for more
}

// Calls are the requests of clients that went to one server of the configuration, by what became of them.
type Calls struct {
	Toolbox string `json:"toolbox"`
	Server  string `json:"server"`
	Outcomes
	Durations Durations         `json:"-"`
	Changes   map[string]uint64 `json:"-"` // how often a server came into each state
}

// Durations is a histogram of how long requests took, from the moment somebody wanted to know.
type Durations struct {
	Counts map[float64]uint64 // requests that took up to so many seconds
	Count  uint64             // all
	Sum    time.Duration
}

// Outcomes count requests by their end.
type Outcomes struct {
	OK        uint64 `json:"ok"`
	ToolError uint64 `json:"tool_error,omitempty"` // the tool said that it failed (isError)
	Error     uint64 `json:"error,omitempty"`      // the server answered with a JSON-RPC error
	Refused   uint64 `json:"refused,omitempty"`    // not sent: the server was not there, or too much waited for it
	Lost      uint64 `json:"lost,omitempty"`       // sent, and no reply came: the server ended, or was too late
	Cancelled uint64 `json:"cancelled,omitempty"`  // given up by the client
}

// All is the number of requests that have ended.
func (o Outcomes) All() uint64 { return o.OK + o.Bad() + o.Cancelled }

// Bad is the number of those that did not bring what was asked for.
func (o Outcomes) Bad() uint64 { return o.ToolError + o.Error + o.Refused + o.Lost }

// ByName gives the counts by the names that they have in metrics.
func (o Outcomes) ByName() map[string]uint64 {
	return map[string]uint64{
		"ok":         o.OK,
		"tool_error": o.ToolError,
		"error":      o.Error,
		"refused":    o.Refused,
		"lost":       o.Lost,
		"cancelled":  o.Cancelled,
	}
}

// Servers yields all servers that there are, each with its toolbox.
func (f *Front) Servers() iter.Seq2[*Toolbox, *Server] {
	return func(yield func(*Toolbox, *Server) bool) {
		boxes := slices.Clone(f.Shared)
		for _, s := range f.Sessions {
			boxes = append(boxes, s.Toolboxes...)
		}
		for i := range boxes {
			for j := range boxes[i].Servers {
				if !yield(&boxes[i], &boxes[i].Servers[j]) {
					return
				}
			}
		}
	}
}
