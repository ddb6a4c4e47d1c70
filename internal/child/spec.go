package child

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/sandbox"
)

// Spec says which process to start. Nothing in it is changed or kept after Start, except StderrLine.
type Spec struct {
	Command string   // a name, looked up in the PATH of Env, or a path; relative to Dir when it holds a slash
	Args    []string // what follows the command in argv; there is no shell
	Env     []string // the whole environment as KEY=VALUE; nothing is inherited
	Dir     string   // working directory; "" is ours

	// Again says that Command is the path of this program, which is run again. Where the system can, the very file that
	// runs now is started, whatever was installed over it since.
	Again bool

	// Sandbox, if not nil, is what the process and its descendants may do. What the system cannot enforce of it is left
	// out.
	Sandbox *sandbox.Rules

	// Hide, if not nil, takes out of a line of the process's stderr what nobody is to read, such as secrets.
	Hide func(line string) string

	// StderrLine, if not nil, gets each line of the process's stderr as Tail shows them. It is called from one
	// goroutine and must not block: while it runs, stderr is not read.
	StderrLine func(line foreign.Text)
}

// Path returns the file that Start would run, found as Start finds it. Every error is a *StartError.
func (s Spec) Path() (string, error) {
	cmd, err := resolve(s)
	return cmd.path, err
}

// Grace says how long each step of Stop waits. Zero means two seconds, negative means not at all, a day is the most.
type Grace struct {
	EOF  time.Duration // from closing stdin to SIGTERM
	Term time.Duration // from SIGTERM to SIGKILL
}

const defaultGrace = 2 * time.Second

// withDefaults returns the durations to wait, zero meaning none.
func (g Grace) withDefaults() Grace {
	pick := func(d time.Duration) time.Duration {
		if d == 0 {
			return defaultGrace
		}
		return min(max(d, 0), 24*time.Hour)
	}
	return Grace{EOF: pick(g.EOF), Term: pick(g.Term)}
}

// ErrClosed is what Guard.Start returns, in a *StartError, after Close.
var ErrClosed = errors.New("closed")

// A StartError says why a process could not be started, in words for the person who configured it.
type StartError struct {
	Command string // as in Spec
	Reason  string // what was wrong and, where known, what to do
	Err     error  // exec.ErrNotFound, fs.ErrNotExist, fs.ErrPermission, or what the system said
}

func (e *StartError) Error() string { return fmt.Sprintf("start %q: %s", e.Command, e.Reason) }

// Unwrap returns Err.
func (e *StartError) Unwrap() error { return e.Err }

// A SurvivorError names the processes that were still there when Stop gave up.
type SurvivorError struct {
	PIDs []int

	gone func() bool
}

// Gone reports whether they have ended since.
func (e *SurvivorError) Gone() bool { return e.gone() }

func (e *SurvivorError) Error() string {
	pids := make([]string, len(e.PIDs))
	for i, pid := range e.PIDs {
		pids[i] = fmt.Sprint(pid)
	}
	return "still running after SIGKILL: pid " + strings.Join(pids, ", ")
}
