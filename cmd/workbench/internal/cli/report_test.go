package cli_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/lifetime"
	"github.com/mcp-workbench/workbench/internal/child"
)

// unread is a pipe that nobody reads.
type unread chan struct{}

func (u unread) Write(p []byte) (int, error) {
	<-u
	return len(p), nil
}

// Whatever has held up an end, and for however long, who does not read why holds it up for no more than is left of it.
func TestReportOfAnEnd(t *testing.T) {
	for name, tt := range map[string]struct {
		err   error
		after time.Duration // since the end began
	}{
		"cut off":          {lifetime.ErrLate, 1750 * time.Millisecond},
		"slow, and failed": {errors.New("a server would not stop"), 1700 * time.Millisecond},
		"failed at once":   {errors.New("a server would not stop"), 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pipe := make(unread)
				defer close(pipe)
				e := &cli.Environment{Streams: cli.Streams{Err: pipe}, Ending: lifetime.NewEnding(child.NewGuard([]string{"workbench"}))}
				began := time.Now()
				e.Ending.Begin()
				time.Sleep(tt.after)
				if got := e.Report(tt.err); got != cli.ExitFault {
					t.Errorf("got the exit code %d, want %d", got, cli.ExitFault)
				}
				if took := time.Since(began); took > 1900*time.Millisecond {
					t.Errorf("the end took %v, want less than 2s by what the logs may take besides", took)
				}
			})
		})
	}
}
