//go:build unix

package child_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/child"
)

// Programs get their input and environment, and end however they behave.
func TestRunner(t *testing.T) {
	t.Parallel()
	environ := map[string]string{"PATH": os.Getenv("PATH"), "HIDDEN": "SECRET", "LANG": "ours"}
	r := child.Runner{Start: newGuard(t).Start, Lookup: func(name string) (string, bool) { v, ok := environ[name]; return v, ok }}
	run := func(ctx context.Context, p child.Program) (string, error) {
		out, err := r.Run(ctx, p)
		return string(out), err
	}
	for _, tt := range []struct {
		name    string
		program child.Program
		want    string
		err     string // a piece of it
	}{
		{"input, arguments, environment", child.Program{Argv: []string{"sh", "-c", `cat; echo "$1 $KEY [$HIDDEN]"`, "sh", "a b; $KEY"}, Env: []string{"KEY=v"}, Stdin: []byte("in ")}, "in a b; $KEY v []\n", ""},
		{"input that nobody reads", child.Program{Argv: []string{"sh", "-c", "exec <&-; echo done"}, Stdin: make([]byte, 1<<20)}, "done\n", ""},
		{"it fails", child.Program{Argv: []string{"sh", "-c", "echo half; echo no such month >&2; exit 3"}}, "", `exit status 3; its last words: "no such month"`},
		{"it fails, and says why on standard output", child.Program{Argv: []string{"sh", "-c", "echo checked; echo; echo FAIL: no such month; exit 1"}}, "", `exit status 1; on its standard output, it wrote last: "checked`},
		{"it is killed", child.Program{Argv: []string{"sh", "-c", "kill -9 $$"}}, "", "killed by signal 9"},
		{"it is not there", child.Program{Argv: []string{"no-such-program-here"}}, "", `start "no-such-program-here"`},
		{"it writes without end", child.Program{Argv: []string{"sh", "-c", "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done"}, Timeout: time.Minute}, "", "it wrote more than 4194304 bytes and was stopped"},
		{"it does not end", child.Program{Argv: []string{"sh", "-c", "echo begun; sleep 600"}, Timeout: 100 * time.Millisecond}, "", "it did not end within 100ms and was stopped"},
		{"it does not end, and has said why", child.Program{Argv: []string{"sh", "-c", "echo half; echo waits for a lock >&2; sleep 600"}, Timeout: 2 * time.Second}, "", `it did not end within 2s and was stopped; its last words: "waits for a lock"`},
		{"it leaves somebody behind", child.Program{Argv: []string{"sh", "-c", "sleep 600 & echo done"}, Timeout: time.Minute}, "done\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := run(t.Context(), tt.program)
			if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("got %q, %v, want %q, %q", got, err, tt.want, tt.err)
			}
		})
	}
	// What is declared is all there is under its name: most programs see the first of two, others the last.
	if got, err := run(t.Context(), child.Program{Argv: []string{"env"}, Env: []string{"LANG=theirs"}}); err != nil || strings.Count(got, "LANG=") != 1 || !strings.Contains(got, "LANG=theirs") {
		t.Errorf("got the environment %q, %v", got, err)
	}
	why := errors.New("the turn was given up")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := run(ctx, child.Program{Argv: []string{"sh", "-c", "sleep 600"}}); !errors.Is(err, why) {
		t.Errorf("got %v, want the cause of the context", err)
	}
}
