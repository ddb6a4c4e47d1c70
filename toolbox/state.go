package toolbox

import (
	"errors"
	"time"

	"github.com/rs/zerolog"
)

// State says where a server stands.
type State string

// The states of a server.
const (
	Stopped    State = "stopped"      // not asked for, idle (Status.Cause is an *IdleError), or closed
	Starting   State = "starting"     // process or connection being made, handshake, first lists
	Installing State = "installing"   // starting, and its package runner fetches what it is to run
	Ready      State = "ready"        // requests are forwarded
	Backoff    State = "backoff"      // failed; started again at Status.Next, or if that is zero when its last process is gone
	Open       State = "circuit-open" // failed too often; one probe at Status.Next
	NeedsLogin State = "needs-login"  // the remote server wants credentials it was not given
	Failed     State = "failed"       // cannot be started as configured
	Disabled   State = "disabled"     // switched off in the configuration
)

// IsStarting reports whether a server is on its way to be ready, installing or not.
func (s State) IsStarting() bool { return s == Starting || s == Installing }

// Status is what is known of a server at one moment.
type Status struct {
	State  State
	Cause  error     // why it is not ready; nil when it is
	Since  time.Time // when it came into this state
	Next   time.Time // when it is tried again; zero if it is not
	Starts int       // how often it was started
	PID    int       // of a stdio server that lives, else 0
	Tools  int       // tools offered after filtering
	// Seen is when its lists were read, if that was in another run of workbench: this one has not read its tools so
	// far. Else it is zero.
	Seen time.Time
}

// settled reports whether an open need not wait for the server any longer.
func (st *Status) settled() bool {
	return !st.State.IsStarting() && (st.State != Stopped || st.asleep())
}

// asleep reports whether the server was stopped for idleness: whoever wants something of it wakes it.
func (st *Status) asleep() bool {
	return st.State == Stopped && errors.As(st.Cause, new(*IdleError))
}

// shortRest is a rest that a call waits for instead of failing.
const shortRest = 2 * time.Second

// passing reports whether the server is not there for so short a time that calls wait for it.
func (st *Status) passing() bool {
	return st.State.IsStarting() || st.State == Backoff && !st.Next.IsZero() && time.Until(st.Next) <= shortRest
}

// Event is a change of one server's state.
type Event struct {
	Toolbox string
	Server  string
	Status  Status
	Took    time.Duration // time spent in the state that ended
	// Log says which server it is, and whose.
	Log zerolog.Logger
}
