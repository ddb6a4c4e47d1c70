//go:build unix

package child

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// errLost says that the guard ended before it answered.
var errLost = errors.New("it ended unexpectedly")

const (
	startMax = 30 * time.Second // how long the guard may take to start a process, once it has started those before
	sendMax  = 5 * time.Second  // how long it may take to read an order
	leftMax  = time.Second      // how long what it left is read where a process that it was just starting holds its descriptors
)

// link is one guard process, seen from us.
type link struct {
	process *os.Process
	conn    *lifeline
	stderr  *tail         // the guard writes there only when it panics
	panics  *os.File      // our end of that
	over    chan struct{} // closed when the guard was waited for and all its processes were reported

	sending sync.Mutex // held while a frame is written
	closed  bool       // no frame may follow

	mu      sync.Mutex
	remotes map[uint64]*remote // those not gone
	starts  starts
	lastID  uint64
	lost    error // why the guard takes no orders any more, nil while it does
}

// remote is a tree that the guard is the parent of.
type remote struct {
	*life
	link    *link
	id      uint64
	tree    *tree      // how to find it again without the guard
	started chan error // gets one value
}

// newLink starts a guard.
func newLink(argv []string) (*link, error) {
	ends, err := socketPair()
	if err != nil {
		return nil, fmt.Errorf("socket: %w", err)
	}
	theirs := os.NewFile(uintptr(ends[1]), "lifeline")
	defer theirs.Close()
	conn, err := newLifeline(ends[0])
	if err != nil {
		return nil, fmt.Errorf("socket: %w", err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		conn.Close()
		return nil, err
	}
	defer null.Close()
	r, w, err := os.Pipe()
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("pipe: %w", err)
	}
	defer w.Close()

	sealDescriptors()
	stopped := make(chan os.Signal, 1)
	signal.Notify(stopped, unix.SIGCHLD) // before there is anything to stop
	// Its own session: what is sent to our process group or by our terminal does not reach it. No environment of ours:
	// it needs none, and passes none on; with one processor Go takes less memory. The root directory: it keeps no file
	// system from being unmounted. SIGCONT when we die, or the thread does that started it: a guard that is stopped
	// then would not see that the lifeline has ended.
	process, err := os.StartProcess(veryFile(argv[0]), argv, &os.ProcAttr{
		Dir: "/", Env: []string{"GOMAXPROCS=1"}, Files: []*os.File{null, null, w, theirs}, Sys: sysProcAttr(unix.SIGCONT),
	})
	if err != nil {
		signal.Stop(stopped)
		conn.Close()
		r.Close()
		return nil, err
	}
	l := &link{
		process: process,
		conn:    conn,
		stderr:  newTail(nil, nil),
		panics:  r,
		over:    make(chan struct{}),
		remotes: map[uint64]*remote{},
		starts:  starts{kill: func() { process.Kill() }},
	}
	go func() {
		defer r.Close()
		l.stderr.readFrom(r)
	}()
	go l.run()
	go l.wake(stopped)
	return l, nil
}

// wake has the guard go on whenever somebody stops it. SIGCHLD may tell of another child or of another change; SIGCONT
// does nothing to a guard that runs. The first process of a container is also the parent of those whose own one is gone.
func (l *link) wake(stopped chan os.Signal) {
	defer signal.Stop(stopped)
	for {
		select {
		case <-stopped:
			_ = l.process.Signal(unix.SIGCONT) // it fails if the guard has ended
			if self := os.Getpid(); self == 1 {
				reapAdopted(self, l.process.Pid)
			}
		case <-l.over:
			return
		}
	}
}

// begin asks the guard to start a process and waits for its answer.
func (l *link) begin(cmd command, files []*os.File) (*remote, error) {
	mark := 1<<32 + rand.Uint64N(1<<62) // two in one system never meet, and no true limit is so high
	r := &remote{
		life: newLife(), link: l,
		tree: newTree(&lister{}, mark), started: make(chan error, 1),
	}
	rules := ""
	if cmd.rules != nil {
		text, err := json.Marshal(cmd.rules)
		if err != nil {
			return nil, err
		}
		rules = string(text)
	}
	if err := l.add(r); err != nil {
		return nil, err
	}
	l.send(frame{
		kind: frameStart, id: r.id,
		numbers: []int64{int64(mark), int64(len(cmd.argv))},
		texts:   append(append([]string{cmd.path, cmd.dir, rules}, cmd.argv...), cmd.env...),
	}, files)
	if err := <-r.started; err != nil {
		return nil, err
	}
	return r, nil
}

func (l *link) add(r *remote) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost != nil {
		return l.lost
	}
	l.lastID++
	r.id = l.lastID
	l.remotes[r.id] = r
	l.starts.ask()
	return nil
}

// send writes a frame. If that fails, the guard is of no use any more. After close it does nothing: the guard is ending
// everything, and what it was not told to start is lost with it.
func (l *link) send(f frame, files []*os.File) {
	l.sending.Lock()
	defer l.sending.Unlock()
	if l.closed {
		return
	}
	l.conn.SetWriteDeadline(time.Now().Add(sendMax))
	if err := sendFrame(l.conn, f, files); err != nil {
		l.process.Kill()
	}
}

// killAfter kills the guard if it does not do in time what was asked of it. Its end is then the answer.
func (l *link) killAfter(d time.Duration) *time.Timer {
	return time.AfterFunc(d, func() { l.process.Kill() })
}

// hastenMax is how long the guard may take to kill everything when the time has come.
const hastenMax = 200 * time.Millisecond

// hasten has the guard end what it has started, and kills it where it does not.
func (l *link) hasten(grace Grace) {
	go l.send(frame{kind: frameHasten, numbers: []int64{int64(grace.EOF), int64(grace.Term)}}, nil) // it may not read
	late := time.AfterFunc(grace.EOF+grace.Term+hastenMax, func() {
		l.mu.Lock()
		left := len(l.remotes)
		l.mu.Unlock()
		if left > 0 {
			l.process.Kill()
		}
	})
	go func() {
		<-l.over
		late.Stop()
	}()
}

// starts kills a guard that takes too long for a start. The guard starts one process after the other, so the time for
// each begins when the one before was answered: many at once on a slow machine do not make a guard that hangs.
type starts struct {
	kill func()
	owed int         // how many were not answered
	late *time.Timer // nil before the first
}

// ask notes that the guard is asked for a start.
func (s *starts) ask() {
	s.owed++
	if s.late == nil {
		s.late = time.AfterFunc(startMax, s.kill)
	} else if s.owed == 1 {
		s.late.Reset(startMax)
	}
}

// answer notes that the guard has answered.
func (s *starts) answer() {
	s.stop()
	if s.owed--; s.owed > 0 {
		s.late.Reset(startMax)
	}
}

// stop has the guard killed no more.
func (s *starts) stop() {
	if s.late != nil {
		s.late.Stop()
	}
}

func (l *link) isLost() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost != nil
}

// close asks the guard to end everything, by the end of what we send, and waits until it has.
func (l *link) close() {
	l.sending.Lock()
	l.closed = true
	l.conn.closeWrite()
	l.sending.Unlock()
	late := l.killAfter(lifelineEOF + lifelineTerm + 2*killMax)
	defer late.Stop()
	<-l.over
}

// run takes what the guard reports until it ends.
func (l *link) run() {
	defer close(l.over)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		l.process.Wait()
		late := time.Now().Add(leftMax)
		l.conn.SetReadDeadline(late)
		l.panics.SetReadDeadline(late)
	}()
	for {
		f, files, err := receiveFrame(l.conn)
		if err != nil {
			break
		}
		closeAll(files)
		l.take(f)
	}
	l.process.Kill() // whatever made it stop talking
	<-ended
	<-l.stderr.done
	l.lose()
	l.conn.Close()
}

func (l *link) take(f frame) {
	l.mu.Lock()
	r := l.remotes[f.id]
	if f.kind == frameGone || f.kind == frameRefused {
		delete(l.remotes, f.id)
	}
	if r != nil && (f.kind == frameStarted || f.kind == frameRefused) {
		l.starts.answer()
	}
	l.mu.Unlock()
	if r == nil {
		return
	}
	switch f.kind {
	case frameStarted:
		r.pid = int(f.number(0))
		r.tree.pid, r.tree.start = r.pid, uint64(f.number(1))
		if len(f.texts) > 0 {
			r.tree.group = group(f.texts[0])
		}
		r.started <- nil
	case frameRefused:
		r.started <- syscall.Errno(f.number(0))
	case frameNoted:
		close(r.noted)
	case frameExited:
		signal := syscall.Signal(f.number(1))
		r.exit = Exit{Code: int(f.number(0)), Signal: unix.SignalName(signal), At: time.Now(), number: int(signal)}
		close(r.exited)
	case frameGone:
		for _, pid := range f.numbers {
			r.survivors = append(r.survivors, int(pid))
		}
		close(r.gone)
	}
}

// lose ends what a guard left behind and reports it as ended.
func (l *link) lose() {
	lost := errLost
	if words := l.stderr.last(); len(words) > 0 {
		lost = fmt.Errorf("%w: %q", errLost, words)
	}
	l.mu.Lock()
	l.lost = lost
	left := l.remotes
	l.remotes = nil
	l.starts.stop()
	l.mu.Unlock()
	list := &lister{}
	var wg sync.WaitGroup
	for _, r := range left {
		wg.Go(func() { r.lose(list, lost) })
	}
	wg.Wait()
}

func (r *remote) lose(list *lister, lost error) {
	r.tree.list = list
	survivors := r.tree.kill()
	r.tree.group.remove()
	if r.pid == 0 {
		r.started <- lost
		return
	}
	select {
	case <-r.exited:
	default:
		r.exit = Exit{Code: -1, Signal: "SIGKILL", At: time.Now(), number: int(unix.SIGKILL), lost: true}
		close(r.exited)
	}
	r.survivors = survivors
	close(r.gone)
}

func (r *remote) stop(grace Grace) {
	r.link.send(frame{
		kind: frameStop, id: r.id,
		numbers: []int64{int64(grace.EOF), int64(grace.Term)},
	}, nil)
	r.expectGone(grace.EOF + grace.Term)
}

func (r *remote) hurry() {
	r.link.send(frame{kind: frameHurry, id: r.id}, nil)
	r.expectGone(0)
}

// expectGone kills the guard if the tree is not reported as gone, with or without survivors, in d and what killing
// takes at most.
func (r *remote) expectGone(d time.Duration) {
	late := r.link.killAfter(d + 2*killMax + time.Second) // of the tree, and of strays
	go func() {
		<-r.gone
		late.Stop()
	}()
}
