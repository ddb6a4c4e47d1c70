package cli_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/lifetime"
)

// unread is a pipe that nobody reads.
type unread chan struct{}

func (u unread) Write(p []byte) (int, error) {
	<-u
	return len(p), nil
}

// An end that something has held up is not held up again by who does not read why.
func TestReportOfALateEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pipe := make(unread)
		defer close(pipe)
		e := &cli.Environment{Streams: cli.Streams{Err: pipe}}
		began := time.Now()
		if got := e.Report(lifetime.ErrLate); got != cli.ExitFault {
			t.Errorf("got the exit code %d, want %d", got, cli.ExitFault)
		}
		if took := time.Since(began); took > 250*time.Millisecond {
			t.Errorf("it took %v beside the end itself, want a quarter of a second at most", took)
		}
	})
}
