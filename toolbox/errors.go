package toolbox

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/toolbox/link"
)

// ErrClosed says that the toolbox was closed.
var ErrClosed = link.ErrClosed

// ErrRetired says that a server is in the configuration no longer.
var ErrRetired = errors.New("it was removed from the configuration")

// errRetired says that a connection takes no more calls and lives on for those
// that are under way.
var errRetired = errors.New("the server is being replaced")

// identity names a server in errors.
type identity struct{ toolbox, server string }

func (i identity) refusal(cause error) error {
	return &RefusedError{Toolbox: i.toolbox, Server: i.server, Cause: cause}
}

func (i identity) unavailable(st Status) error {
	return &UnavailableError{Toolbox: i.toolbox, Server: i.server, Status: st}
}

// gone says that the server is not in the configuration any more.
func (i identity) gone() error { return i.unavailable(Status{State: Stopped, Cause: ErrRetired}) }

// RefusedError says that a request was not sent to a server that is there, and
// may be made again.
type RefusedError struct {
	Toolbox string
	Server  string
	Cause   error
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("server %q of toolbox %q %v; the request was not sent", e.Server, e.Toolbox, e.Cause)
}

func (e *RefusedError) Unwrap() error { return e.Cause }

// OverloadError says that a server has as many requests as it may, and that as
// many wait as may.
type OverloadError struct {
	InFlight, Queued int
}

func (e *OverloadError) Error() string {
	return fmt.Sprintf(`is working on %d requests and %d more wait for it: try again when some have ended, or raise its "maxInFlight" in the configuration`, e.InFlight, e.Queued)
}

// IdleError says that a server was stopped because nothing was asked of it.
type IdleError struct {
	After time.Duration
}

func (e *IdleError) Error() string {
	return fmt.Sprintf("was not used for %s; the next call starts it", e.After)
}

// SilenceError says that a server was stopped because it answered nothing any more.
type SilenceError struct {
	Calls int           // that got no reply in time, one after the other
	Wait  time.Duration // for the answer to the ping that followed
}

func (e *SilenceError) Error() string {
	return fmt.Sprintf("left %d requests in a row without a reply, and then a ping for %s", e.Calls, e.Wait)
}

// UnavailableError says that a request was not sent because its server is not
// there.
type UnavailableError struct {
	Toolbox string
	Server  string
	Status  Status
}

func (e *UnavailableError) Error() string {
	text := fmt.Sprintf("server %q of toolbox %q is not available (%s)", e.Server, e.Toolbox, e.Status.State)
	if why := e.Status.Explain(); why != "" {
		text += ": " + why
	}
	return text
}

func (e *UnavailableError) Unwrap() error { return e.Status.Cause }

// LostError says that a request was sent and its reply did not come. Whether
// the server carried it out is unknown, so it is never sent again.
type LostError struct {
	Toolbox string
	Server  string
	Cause   error
}

func (e *LostError) Error() string {
	return fmt.Sprintf("server %q of toolbox %q: %v; whether the request was carried out is unknown", e.Server, e.Toolbox, e.Cause)
}

func (e *LostError) Unwrap() error { return e.Cause }

// UndoneError says that a request was certainly not carried out: a remote
// server refused it, or could not be reached.
type UndoneError struct {
	Toolbox string
	Server  string
	Cause   error
}

func (e *UndoneError) Error() string {
	return fmt.Sprintf("server %q of toolbox %q: %v", e.Server, e.Toolbox, e.Cause)
}

func (e *UndoneError) Unwrap() error { return e.Cause }

// TimeoutError says which wait came to its end.
type TimeoutError struct {
	What   string // "start", "install", "queue", "idle", "total"; "list" is one that cannot be made longer
	After  time.Duration
	Stderr foreign.Words // of a server that did not start
	Stdout foreign.Words // what it wrote on its standard output that is no message
	Stray  *StrayError   // what came meanwhile and was to no request, nil for nothing
}

func (e *TimeoutError) Error() string {
	if e.Stray != nil {
		return e.wait() + "; it " + e.Stray.Error()
	}
	return e.wait()
}

func (e *TimeoutError) wait() string {
	switch e.What {
	case "start":
		return fmt.Sprintf("did not finish starting within %s (timeouts.start)", e.After) + e.words()
	case "install":
		return fmt.Sprintf("did not finish installing and starting within %s (timeouts.install)", e.After) + e.words()
	case "queue":
		return fmt.Sprintf("did not come to take the request within %s", e.After)
	case "idle":
		return fmt.Sprintf("sent neither reply nor progress for %s (timeouts.callIdle)", e.After)
	case "total":
		return fmt.Sprintf("did not finish within %s (timeouts.callTotal)", e.After)
	default:
		return fmt.Sprintf("did not finish within %s", e.After)
	}
}

// words quotes what a server that did not start has written.
func (e *TimeoutError) words() (text string) {
	if len(e.Stderr) > 0 {
		text += fmt.Sprintf("; its last words: %q", e.Stderr)
	}
	if len(e.Stdout) > 0 {
		text += fmt.Sprintf("; on its standard output, which is for messages of MCP alone, it wrote %q", e.Stdout)
		if port := webServer.FindString(e.Stdout.String() + " " + e.Stderr.String()); port != "" {
			text += fmt.Sprintf(`: if it is a web server, start it yourself and write its "url" in place of "command", perhaps %q`, port)
		}
	}
	return text
}

// webServer finds the address that a web server says it listens at.
var webServer = regexp.MustCompile(`https?://[A-Za-z0-9.\-\[\]:]+[A-Za-z0-9/]`)
