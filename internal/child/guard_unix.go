//go:build unix

package child

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"
)

// A Guard starts processes that end with us, however we end: by returning, by a panic, by SIGKILL to us or to our whole
// process group. It does so through one other process, the guard, which is this program run again, in a session of its
// own. The guard is the parent of all it starts; a socket between us is its lifeline, and when that ends it ends
// everything below it: what has not ended after 0.3 seconds gets SIGTERM, what has not after 1.3 SIGKILL.
//
//	us ◄──── pipes: stdin, stdout, stderr ────► process, its descendants
//	 │                                             ▲
//	 └─ socket: start, stop ──► guard ── parent of ┘
//	       started, exited ◄──
//
// What the guard starts has the umask of its owner and writes no core files. On Linux it is found again whatever it
// does: it is adopted by the guard when its parent dies, carries a mark that shows which process it came from, and is
// in a control group of that process, where one can be made. Elsewhere a descendant that left session and group and
// lost its parent before anybody looked is not found.
//
// If the guard itself is killed, its processes are too, which is reported as their exits, and the next Start makes
// another guard. If it is stopped, we have it go on, and on Linux the system does when we are killed at that moment.
// What remains when we are killed: on other Unixes a guard that is stopped just then, and everywhere one that is frozen
// or is stopped later, hold their processes until they are continued; and where guard and owner are killed at once,
// what the processes started outlives them unless there is a control group, which the next guard ends.
type Guard struct {
	argv []string
	file fs.FileInfo // of argv[0] at first; nil if that is not known

	mu     sync.Mutex
	link   *link // nil before the first Start
	closed bool
	due    time.Time // see Hasten
	end    time.Time
}

// NewGuard returns a Guard that is run by argv, a command line on which this program calls RunGuard and nothing else,
// and RunLaunched with the arguments that follow where there are some, such as {os.Executable(), "__guard"}. Nothing is
// started before the first Start.
func NewGuard(argv []string) *Guard {
	file, _ := os.Stat(argv[0]) // what is not there is said when it is run
	return &Guard{argv: argv, file: file}
}

// replaced says what to do where another program stands by now in place of the one that the guard is; else "".
func (g *Guard) replaced() string {
	path := g.argv[0]
	if file, err := os.Stat(path); g.file == nil || veryFile(path) != path || err == nil && os.SameFile(file, g.file) {
		return ""
	}
	return "; " + path + " was replaced or removed since workbench started; start workbench again"
}

// Start is like the function Start, except that the guard starts the process.
func (g *Guard) Start(spec Spec) (*Process, error) {
	return start(spec, g.find, func(cmd command, files []*os.File) (*life, root, error) {
		r, err := g.begin(cmd, files)
		if errors.Is(err, errLost) { // the guard died while it was asked, and with it what it may have started
			r, err = g.begin(cmd, files)
		}
		if _, refused := err.(syscall.Errno); refused {
			return nil, nil, err // what the system said to the guard about the command
		}
		if err != nil {
			return nil, nil, &StartError{cmd.name, "guard process: " + err.Error() + lacking(err) + g.replaced(), err}
		}
		return r.life, r, nil
	})
}

// find returns the command that the guard is to run for a Spec.
func (g *Guard) find(spec Spec) (command, error) {
	if spec.Distant() {
		return launched(g.argv, spec)
	}
	return resolve(spec)
}

func (g *Guard) begin(cmd command, files []*os.File) (*remote, error) {
	l, err := g.running()
	if err != nil {
		return nil, err
	}
	return l.begin(cmd, files)
}

// running returns the link to a guard that runs, as far as we know.
func (g *Guard) running() (*link, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, ErrClosed
	}
	if g.link == nil || g.link.isLost() {
		l, err := newLink(g.argv)
		if err != nil {
			return nil, err
		}
		g.link = l
		g.hastenLocked()
	}
	return g.link, nil
}

// Hasten bounds how long processes go on, whether they are asked to stop or not: after grace.EOF they get SIGTERM, and
// after grace.Term SIGKILL. A guard that has not ended them soon after is killed, and they with it. It is called once.
func (g *Guard) Hasten(grace Grace) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.due = time.Now().Add(grace.EOF)
	g.end = g.due.Add(grace.Term)
	g.hastenLocked()
}

// hastenLocked tells the guard what Hasten said.
func (g *Guard) hastenLocked() {
	if g.link != nil && !g.end.IsZero() {
		g.link.hasten(Grace{EOF: max(0, time.Until(g.due)), Term: g.end.Sub(g.due)})
	}
}

// Close ends the guard, and with it all processes that it started and that run still. It returns when they are gone. It
// may be called again.
func (g *Guard) Close() {
	g.mu.Lock()
	g.closed = true
	l := g.link
	g.mu.Unlock()
	if l != nil {
		l.close()
	}
}
