package rpc

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/toolbox/link"
)

// ErrDraining says that a connection takes no more calls and lives on for those that are under way.
var ErrDraining = errors.New("the server is being replaced")

// ErrNoRoom says that the server has as many calls as it may have.
var ErrNoRoom = errors.New("no room")

// UnsentError says that the server has not seen a request.
type UnsentError struct{ error }

func (e UnsentError) Unwrap() error { return e.error }

// SilenceError says that a server was stopped because it answered nothing any more.
type SilenceError struct {
	Calls int           // that got no reply in time, one after the other
	Wait  time.Duration // for the answer to the ping that followed
}

func (e *SilenceError) Error() string {
	return fmt.Sprintf("did not answer %d requests in a row, and then a ping for %s", e.Calls, e.Wait)
}

// Failed is whose request failed, and why.
type Failed struct {
	Toolbox string
	Server  string
	Cause   error
}

func (f *Failed) Unwrap() error { return f.Cause }

// LostError says that a request was sent and its reply did not come. Whether the server carried it out is unknown, so
// it is never sent again.
type LostError struct{ Failed }

func (e *LostError) Error() string {
	return fmt.Sprintf("server %q of toolbox %q: %v; whether the request was carried out is unknown", e.Server, e.Toolbox, e.Cause)
}

// UndoneError says that a request was certainly not carried out: a remote server refused it, or could not be reached.
type UndoneError struct{ Failed }

func (e *UndoneError) Error() string {
	return fmt.Sprintf("server %q of toolbox %q: %v", e.Server, e.Toolbox, e.Cause)
}

// TimeoutError says which wait came to its end.
type TimeoutError struct {
	What      string // "start", "install", "queue", "idle", "total"; "list" is one that cannot be made longer
	After     time.Duration
	link.Said             // meanwhile; on standard error, of a server that did not start
	Stray     *StrayError // what came meanwhile and was to no request, nil for nothing
}

func (e *TimeoutError) Error() string {
	if e.Stray != nil {
		return e.wait() + "; it " + e.Stray.Error()
	}
	return e.wait()
}

// OfStart reports whether the wait was for a start, with what is installed for it.
func (e *TimeoutError) OfStart() bool { return e.What == "start" || e.What == "install" }

func (e *TimeoutError) wait() string {
	switch e.What {
	case "start":
		return fmt.Sprintf("did not finish starting within %s (timeouts.start)", e.After) + e.words()
	case "install":
		return fmt.Sprintf("did not finish installing and starting within %s (timeouts.install)", e.After) + e.words()
	case "queue":
		return fmt.Sprintf("did not accept the request within %s", e.After)
	case "idle":
		return fmt.Sprintf("sent neither reply nor progress for %s (timeouts.callIdle)", e.After) + e.words()
	case "total":
		return fmt.Sprintf("did not finish within %s (timeouts.callTotal)", e.After) + e.words()
	default:
		return fmt.Sprintf("did not finish within %s", e.After)
	}
}

// words quotes what the server has written.
func (e *TimeoutError) words() string {
	text := e.Said.String()
	if at := webServer.FindString(e.Stdout.String() + " " + e.Stderr.String()); e.OfStart() && at != "" {
		text += fmt.Sprintf(`: if it is a web server, start it yourself and write its "url" in place of "command", perhaps %q`, at)
	}
	return text
}

// webServer finds the address that a web server on this machine says it listens at; others are of anything.
var webServer = regexp.MustCompile(`https?://(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])(?::\d+)?(?:/[A-Za-z0-9/_-]*)?`)

// StrayError says that a server sent a reply that is to no request.
type StrayError struct {
	Reply foreign.Text

	at time.Time // when it came
}

func (e *StrayError) Error() string {
	return fmt.Sprintf("sent a reply to no request: %q", e.Reply)
}
