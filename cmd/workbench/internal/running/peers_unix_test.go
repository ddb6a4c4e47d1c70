//go:build unix

package running

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/internal/status"
)

// Of workbenches that do not answer nobody says that there are none; one that has ended, or does not have what was
// asked for, has answered.
func TestEachCountsTheSilent(t *testing.T) {
	dir, err := os.MkdirTemp("", "wb") // short, as the paths of sockets have to be
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	answers := map[string]error{"1": nil, "2": errors.New("hangs"), "3": status.ErrGone, "4": status.ErrNone}
	if err := os.Mkdir(filepath.Join(dir, "workbench"), 0o700); err != nil {
		t.Fatal(err)
	}
	for pid := range answers {
		ln, err := net.Listen("unix", filepath.Join(dir, "workbench", pid+".sock"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = ln.Close() })
	}
	env := &cli.Environment{Streams: cli.Streams{Out: io.Discard, Err: io.Discard}, Environ: []string{"XDG_RUNTIME_DIR=" + dir}}
	silent := Each(env, func(p status.Peer) error { return answers[PID(p)] })
	if silent != 1 || None(silent) != "no workbench that answers" || None(0) != "no running workbench of this user" {
		t.Errorf("got %d that do not answer, and %q, want 1", silent, None(silent))
	}
}

// Nothing has been there for less than no time, also where the clock was put back since.
func TestAge(t *testing.T) {
	for since, want := range map[time.Duration]string{-24 * time.Hour: "0s", 90 * time.Minute: "1h30m", 50 * time.Hour: "2d2h"} {
		if got := Age(time.Now().Add(-since)); got != want {
			t.Errorf("%v: got %q, want %q", since, got, want)
		}
	}
}
