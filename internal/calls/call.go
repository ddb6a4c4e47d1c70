package calls

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/foreign"
)

// Mode says how much is kept of calls.
type Mode string

// The modes.
const (
	Off  Mode = "off"  // nothing
	Meta Mode = "meta" // all but arguments and results
	Full Mode = "full" // arguments and results too
)

// Outcomes of calls, as metrics have them, and Running of one that is under way.
const (
	OK        = "ok"
	ToolError = "tool_error"
	Error     = "error"
	Refused   = "refused"
	Lost      = "lost"
	Cancelled = "cancelled"
	Running   = "running"
)

// Bounds of what is kept of one call.
const (
	// MaxName is the most bytes of a name, a uri or an id.
	MaxName = 4 << 10
	// MaxValue is the most bytes of its arguments, and of its result. What is longer is left out.
	MaxValue = 1 << 20
	// MaxStderr is the most lines of what its server wrote meanwhile.
	MaxStderr = 20
)

// Call is one request of a client: to a server, or one that was answered here.
type Call struct {
	ID       string `json:"id"` // set by [Log.Calls] and its like
	Time     Time   `json:"time"`
	Duration Millis `json:"duration_ms"` // so far, of one that is under way
	User     string `json:"user,omitempty"`
	Client   string `json:"client,omitempty"`
	Address  string `json:"address,omitempty"` // of the client, over HTTP
	Session  string `json:"session,omitempty"` // number of the client's session in this process
	Toolbox  string `json:"toolbox,omitempty"`
	Server   string `json:"server,omitempty"` // "" if it went to none
	Method   string `json:"method"`
	Tool     string `json:"tool,omitempty"` // name of the tool or prompt, or uri of the resource
	In       int    `json:"bytes_in"`       // of the request, as the client sent it
	Out      int    `json:"bytes_out"`      // of the reply, as the client got it
	Tokens   int    `json:"tokens"`         // that the reply costs a model, about: a quarter of its bytes
	Outcome  string `json:"outcome"`
	Error    string `json:"error,omitempty"` // cleaned and bounded, as package foreign has it

	Request  string `json:"request_id,omitempty"` // the client's id, as JSON
	Progress string `json:"progress_token,omitempty"`
	Trace    Trace  `json:"trace_id,omitzero"`

	Stderr []Line `json:"stderr,omitempty"` // what the server wrote meanwhile, or last

	Arguments json.RawMessage `json:"arguments,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"` // or the error of the reply
	Masked    bool            `json:"masked,omitempty"` // secrets were taken out of the arguments
	Full      bool            `json:"full,omitempty"`   // arguments and result are kept, unless they are left out
	// What is too long to be kept.
	ArgumentsLeft bool `json:"arguments_left_out,omitempty"`
	ResultLeft    bool `json:"result_left_out,omitempty"`

	number uint64
	began  time.Time // with the monotonic clock
	closed bool      // nothing more is noted of it
}

// Failed reports whether the call did not bring what was asked for.
func (c *Call) Failed() bool {
	return c.Outcome != OK && c.Outcome != Cancelled && c.Outcome != Running
}

// Name is the name of a tool as workbench call takes it, and of anything else what there is.
func (c *Call) Name() string {
	name := c.Tool
	for _, part := range []string{c.Server, c.Toolbox} {
		if part != "" {
			name = part + "/" + name
		}
	}
	return name
}

// size is what the call takes.
func (c *Call) size() int {
	n := account.Each + len(c.Tool) + len(c.Error) + len(c.Request) + len(c.Progress) + len(c.Arguments) + len(c.Result)
	for _, line := range c.Stderr {
		n += line.Size()
	}
	return n
}

// Line is one line that a server wrote to standard error, or that is said of it here.
type Line struct {
	Time Time         `json:"time"`
	Text foreign.Text `json:"text"`
	Note bool         `json:"note,omitempty"` // workbench says it of the server
}

// Size is what the line takes.
func (l *Line) Size() int { return len(l.Text.String()) + 64 }

// Time is a moment as documents show it: to a millisecond.
type Time struct{ time.Time }

// MarshalText gives the moment in the form of RFC 3339, with three digits of the second.
func (t Time) MarshalText() ([]byte, error) {
	return t.UTC().AppendFormat(nil, "2006-01-02T15:04:05.000Z07:00"), nil
}

// MarshalJSON gives it as a string.
func (t Time) MarshalJSON() ([]byte, error) {
	return t.UTC().AppendFormat(nil, `"2006-01-02T15:04:05.000Z07:00"`), nil
}

// Millis is a time taken, in documents a number of milliseconds.
type Millis time.Duration

// MarshalJSON gives milliseconds, with what a microsecond is.
func (d Millis) MarshalJSON() ([]byte, error) {
	ms := float64(time.Duration(d).Microseconds()) / 1000
	return strconv.AppendFloat(nil, ms, 'f', -1, 64), nil
}

// UnmarshalJSON takes milliseconds.
func (d *Millis) UnmarshalJSON(raw []byte) error {
	ms, err := strconv.ParseFloat(string(raw), 64)
	*d = Millis(ms * float64(time.Millisecond))
	return err
}

// Trace is the id of a trace (W3C Trace Context); all zeros is none.
type Trace [16]byte

// IsZero reports whether there is none.
func (t Trace) IsZero() bool { return t == Trace{} }

// MarshalText gives 32 digits.
func (t Trace) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, t[:]), nil }

// UnmarshalText takes 32 digits; what is none is no trace.
func (t *Trace) UnmarshalText(text []byte) error {
	*t, _ = ParseTrace(text)
	return nil
}

// ParseTrace reads 32 hexadecimal digits.
func ParseTrace(text []byte) (t Trace, ok bool) {
	if len(text) != hex.EncodedLen(len(t)) {
		return t, false
	}
	if _, err := hex.Decode(t[:], text); err != nil {
		return Trace{}, false
	}
	return t, true
}

// Cut gives at most MaxName bytes of a name, and never holds on to the rest.
func Cut(name string) string { return cut.At(name, MaxName) }
