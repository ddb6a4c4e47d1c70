//go:build unix

package child

import (
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// killMax bounds how long SIGKILL is repeated. A process that withstands it is stuck in the system.
const killMax = 2 * time.Second

// tree is a process that we started, and are the parent of, with all its descendants.
type tree struct {
	*life
	start uint64         // when it was started, as in process.start; 0 if unknown
	mark  uint64         // what its descendants carry, 0 if nothing; see setMark
	group group          // the control group that they are in
	seen  map[int]uint64 // descendants seen so far and when they started; owned by run
	list  *lister
	asked chan Grace // holds what stop was given
	due   gate       // opened when the process is to end, whether it was asked or not
	rush  gate       // opened when its end is not waited for any longer

	mu   sync.Mutex // held while the process is reaped, and while it and its group are signalled by number
	held bool       // the process is our child and not reaped, so that its number is certainly its own
}

// startTree starts the process with files as its descriptors 0, 1 and 2, and sees to it until its tree is gone.
func startTree(cmd command, files []*os.File) (*tree, error) {
	t := newTree(&lister{}, 0)
	if err := t.begin(cmd, files, 0); err != nil {
		return nil, err
	}
	go t.await()
	go t.run()
	return t, nil
}

func newTree(list *lister, mark uint64) *tree {
	return &tree{
		life:  newLife(),
		mark:  mark,
		seen:  map[int]uint64{},
		list:  list,
		asked: make(chan Grace, 1),
		due:   newGate(),
		rush:  newGate(),
	}
}

// gate is opened once.
type gate struct {
	once *sync.Once
	c    chan struct{} // closed when it is open
}

func newGate() gate { return gate{new(sync.Once), make(chan struct{})} }

func (g gate) open() { g.once.Do(func() { close(g.c) }) }

// begin starts the process. It leads a session of its own: the session is inherited by more descendants than the
// process group is, because a shell with job control makes groups, and it has no terminal to read from or to be stopped
// by. If dies is not 0, the system sends that signal when the calling thread ends, where it can.
func (t *tree) begin(cmd command, files []*os.File, dies syscall.Signal) error {
	sealDescriptors()
	fds := make([]uintptr, len(files))
	for i, f := range files {
		fds[i] = f.Fd() // this makes them blocking, as a child expects its descriptors to be
	}
	attr := &syscall.ProcAttr{Dir: cmd.dir, Env: cmd.env, Files: fds, Sys: sysProcAttr(dies)}
	var pid int
	err := t.confined(cmd.rules, func() (err error) {
		path, argv := wrapped(cmd)
		done := t.group.enter(attr.Sys)
		pid, err = syscall.ForkExec(path, argv, attr)
		done()
		if err != nil && t.group != "" { // a sandbox may forbid to start anything in a group
			t.group.remove()
			t.group = ""
			attr.Sys = sysProcAttr(dies)
			pid, err = syscall.ForkExec(path, argv, attr)
		}
		return err
	})
	if err != nil {
		return err
	}
	t.pid, t.held = pid, true
	if p, err := lookupProcess(pid); err == nil {
		t.start = p.start
	}
	return nil
}

// sealDescriptors keeps the child from inheriting what we ourselves were started with. What Go opens is closed on exec
// anyway; a client that starts us may have left its own files, sockets and pipes open.
func sealDescriptors() {
	if closeRange(3) == nil {
		return
	}
	names, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for _, name := range names {
		if fd, err := strconv.Atoi(name.Name()); err == nil && fd >= 3 {
			unix.CloseOnExec(fd)
		}
	}
}

// wait4 reaps our child, waiting for it if it lives.
func wait4(pid int) syscall.WaitStatus {
	var status syscall.WaitStatus
	for {
		if _, err := syscall.Wait4(pid, &status, 0, nil); err != syscall.EINTR {
			return status
		}
	}
}

// setExit notes that the process was reaped. t.mu is held.
func (t *tree) setExit(status syscall.WaitStatus) {
	t.held = false
	t.exit = exitOf(status, time.Now())
	close(t.exited)
}

func exitOf(status syscall.WaitStatus, at time.Time) Exit {
	if status.Signaled() {
		return Exit{Code: -1, Signal: unix.SignalName(status.Signal()), At: at, number: int(status.Signal())}
	}
	return Exit{Code: status.ExitStatus(), At: at}
}

func (t *tree) stop(grace Grace) { t.asked <- grace }

// press ends the wait for the process to end by itself, as if stop had been called if it was not.
func (t *tree) press() { t.due.open() }

func (t *tree) hurry() {
	t.due.open()
	t.rush.open()
}

// run owns the tree until it is gone.
func (t *tree) run() {
	defer close(t.gone)
	var grace Grace
	select {
	case <-t.exited:
		t.survivors = t.kill()
		return
	case <-t.due.c:
		grace.Term = lifelineTerm
	case grace = <-t.asked:
	}
	t.members() // notes them
	close(t.noted)
	t.wait(t.exited, grace.EOF, t.due)
	left := t.members()
	if len(left) == 0 {
		return
	}
	t.signal(unix.SIGTERM, left)
	if t.waitLeft(grace.Term) {
		t.survivors = t.kill()
	}
}

// wait waits for c, for d at most and not beyond cut.
func (t *tree) wait(c <-chan struct{}, d time.Duration, cut gate) {
	select {
	case <-c:
	case <-time.After(d):
	case <-cut.c:
	}
}

// waitLeft waits until nothing is left, for d at most and not beyond hurry, and reports whether something is.
func (t *tree) waitLeft(d time.Duration) bool {
	end := time.Now().Add(d)
	t.wait(t.exited, d, t.rush)
	for pause := 2 * time.Millisecond; len(t.members()) > 0; pause = min(2*pause, 100*time.Millisecond) {
		rest := time.Until(end)
		if rest <= 0 || t.hurried() {
			return true
		}
		t.wait(nil, min(pause, rest), t.rush)
	}
	return false
}

func (t *tree) hurried() bool {
	select {
	case <-t.rush.c:
		return true
	default:
		return false
	}
}

// kill sends SIGKILL until nothing is left, and returns what is left after killMax. It repeats because a descendant may
// be born between looking and killing.
func (t *tree) kill() []int {
	end := time.Now().Add(killMax)
	for round, pause := 0, time.Millisecond; ; round, pause = round+1, min(2*pause, 50*time.Millisecond) {
		left := t.members()
		if len(left) == 0 || round > 2 && time.Now().After(end) { // who was stopped meanwhile has still to send it
			return numbers(left)
		}
		t.group.kill()
		t.signal(unix.SIGKILL, left)
		time.Sleep(pause)
	}
}

// signal sends sig to the process and its group, while their number is certainly theirs, and to each of members.
func (t *tree) signal(sig unix.Signal, members []process) {
	t.mu.Lock()
	group := t.held
	if group {
		unix.Kill(-t.pid, sig)
	}
	t.mu.Unlock()
	for _, p := range members {
		if !group || p.pgid != t.pid {
			p.signal(sig)
		}
	}
}

func numbers(list []process) []int {
	var pids []int
	for _, p := range list {
		pids = append(pids, p.pid)
	}
	return pids
}

// watchSurvivors returns what tells whether processes that were there when it was called are gone.
func watchSurvivors(pids []int) func() bool {
	var left []process
	for _, pid := range pids {
		if p, err := lookupProcess(pid); err == nil {
			left = append(left, p)
		}
	}
	return func() bool {
		return !slices.ContainsFunc(left, func(was process) bool {
			is, err := lookupProcess(was.pid)
			return err == nil && is.start == was.start && !is.dead
		})
	}
}
