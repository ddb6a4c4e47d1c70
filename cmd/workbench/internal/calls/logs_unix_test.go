//go:build unix

package calls

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
)

// What a workbench said of a server before it ended is shown, beside what others say and alone.
func TestLinesOfAWorkbenchThatEnds(t *testing.T) {
	for _, alone := range []bool{false, true} {
		t.Run(fmt.Sprint("alone: ", alone), func(t *testing.T) {
			dir, err := os.MkdirTemp("", "wb") // short, as the paths of sockets have to be
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			if err := os.Mkdir(filepath.Join(dir, "workbench"), 0o700); err != nil {
				t.Fatal(err)
			}
			says := func(pid string, second int, ends bool) {
				ln, err := net.Listen("unix", filepath.Join(dir, "workbench", pid+".sock"))
				if err != nil {
					t.Fatal(err)
				}
				srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					fmt.Fprintf(w, `{"time":"2026-01-01T00:00:0%dZ","text":"of %s","toolbox":"box","server":"s"}`+"\n", second, pid)
					if ends {
						_ = http.NewResponseController(w).Flush()
						panic(http.ErrAbortHandler)
					}
				}))
				srv.Listener = ln
				srv.Start()
				t.Cleanup(srv.Close)
			}
			want := "of 2\n"
			says("2", 1, true)
			if !alone {
				want += "of 3\n"
				says("3", 2, false)
			}
			var out bytes.Buffer
			env := &cli.Environment{Streams: cli.Streams{Out: &out, Err: io.Discard}, Environ: []string{"XDG_RUNTIME_DIR=" + dir}}
			if err := showLines(t.Context(), env, "s", 0, false, false); err != nil {
				t.Fatal(err)
			}
			var got string
			for line := range bytes.Lines(out.Bytes()) {
				_, text, _ := bytes.Cut(line, []byte("  "))
				got += string(text)
			}
			if got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// Who follows a server that no workbench has is told so: it may be one that is to come, or a slip.
func TestFollowingNobody(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var said bytes.Buffer
	env := &cli.Environment{Streams: cli.Streams{Out: io.Discard, Err: &said}, Environ: []string{"XDG_RUNTIME_DIR=" + t.TempDir()}}
	if err := showLines(ctx, env, "gti", 0, true, false); err != nil {
		t.Fatal(err)
	}
	if got := said.String(); !strings.Contains(got, `no running workbench of this user has a server "gti" yet: waiting for it`) {
		t.Errorf("got %q, want a word that nobody has the server", got)
	}
}
