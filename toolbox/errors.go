package toolbox

import (
	"errors"
	"fmt"
	"time"

	"github.com/mcp-workbench/workbench/toolbox/link"
	"github.com/mcp-workbench/workbench/toolbox/rpc"
)

// ErrClosed says that the toolbox was closed.
var ErrClosed = link.ErrClosed

// ErrRetired says that a server is no longer in the configuration.
var ErrRetired = errors.New("it was removed from the configuration")

// identity names a server in errors.
type identity struct{ toolbox, server string }

func (i identity) refusal(cause error) error {
	return &RefusedError{rpc.Failed{Toolbox: i.toolbox, Server: i.server, Cause: cause}}
}

func (i identity) unavailable(st Status) error {
	return &UnavailableError{Toolbox: i.toolbox, Server: i.server, Status: st}
}

// gone says that the server is not in the configuration any more.
func (i identity) gone() error { return i.unavailable(Status{State: Stopped, Cause: ErrRetired}) }

// RefusedError says that a request was not sent to a server that is there, and may be made again.
type RefusedError struct{ rpc.Failed }

func (e *RefusedError) Error() string {
	return fmt.Sprintf("server %q of toolbox %q %v; the request was not sent", e.Server, e.Toolbox, e.Cause)
}

// OverloadError says that a server has as many requests as it may, and that as many wait as may.
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

// UnavailableError says that a request was not sent because its server is not there.
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
