//go:build unix

package child

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-workbench/workbench/internal/footprint"
)

const (
	lifelineFD = 3
	startQueue = 64 // how many starts may wait for one that takes its time, before stops wait too

	// What a tree is given when the lifeline ends: its stdin has ended too, so that it may know already.
	lifelineEOF  = 300 * time.Millisecond
	lifelineTerm = time.Second
)

// guard is the guard process, seen from inside.
type guard struct {
	conn   *lifeline
	list   lister
	groups *groups

	sending sync.Mutex // held while a frame is written

	mu    sync.Mutex // held from before a process is started until it is in trees
	trees map[uint64]*tree
	all   sync.WaitGroup // of the goroutines that watch trees
}

// RunGuard is the whole of the process that a Guard runs. It returns its exit status when the lifeline has ended and
// everything below it is gone.
func RunGuard() int { return runGuard(newGroups) }

func runGuard(newGroups func() *groups) int {
	// Whoever ends us all ends the one that started us, which is what counts. The handlers, unlike signals that are
	// ignored, are not inherited.
	unwanted := make(chan os.Signal, 1)
	signal.Notify(unwanted, unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGPIPE)

	conn, err := newLifeline(lifelineFD)
	if err != nil {
		fmt.Fprintln(os.Stderr, "this command is run by the program itself, not by hand: descriptor 3 is not its socket:", err)
		return 2
	}
	unix.CloseOnExec(lifelineFD)
	defer conn.Close()
	unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) // memory holds secrets

	g := &guard{conn: conn, trees: map[uint64]*tree{}, groups: newGroups()}
	defer g.groups.close()
	stopReaping := g.adopt()
	defer stopReaping()
	g.serve()
	g.end()
	return 0
}

// order is a frame with its files.
type order struct {
	frame
	files []*os.File
}

// serve does what it is told until the lifeline ends. Processes are started from one thread that lasts as long as we
// do, because the signal that they get when their parent dies (prctl(2), PR_SET_PDEATHSIG) is sent when the thread that
// started them does. A start can take its time; orders to stop do not wait for it.
func (g *guard) serve() {
	runtime.LockOSThread() // for ever
	memory := footprint.New()
	starts := make(chan order, startQueue)
	go func() {
		defer close(starts)
		for {
			f, files, err := receiveFrame(g.conn)
			if err != nil {
				return
			}
			if f.kind == frameStart {
				starts <- order{f, files}
				continue
			}
			closeAll(files)
			g.take(f)
		}
	}()
	for o := range starts {
		memory.Busy()
		g.start(o.frame, o.files)
		closeAll(o.files)
	}
}

func (g *guard) take(f frame) {
	if f.kind == frameHasten {
		g.hasten(Grace{EOF: time.Duration(f.number(0)), Term: time.Duration(f.number(1))})
		return
	}
	g.mu.Lock()
	t := g.trees[f.id]
	g.mu.Unlock()
	if t == nil {
		return // it ended by itself, of which the report is on its way
	}
	switch f.kind {
	case frameStop:
		t.stop(Grace{EOF: time.Duration(f.number(0)), Term: time.Duration(f.number(1))})
	case frameHurry:
		t.hurry()
	}
}

// start starts a process and reports it, and later its exit and that it is gone.
func (g *guard) start(f frame, files []*os.File) {
	mark, argc := uint64(f.number(0)), int(f.number(1))
	if argc < 1 || len(f.texts) < 3+argc {
		g.refuse(f.id, unix.EINVAL)
		return
	}
	if len(files) != frameFiles { // the system leaves out what goes beyond the limit
		g.refuse(f.id, unix.EMFILE)
		return
	}
	cmd := command{path: f.texts[0], dir: f.texts[1], argv: f.texts[3 : 3+argc], env: f.texts[3+argc:]}
	if rules := f.texts[2]; rules != "" && json.Unmarshal([]byte(rules), &cmd.rules) != nil {
		g.refuse(f.id, unix.EINVAL)
		return
	}
	t := newTree(&g.list, mark)
	t.group = g.groups.add(f.id)
	g.mu.Lock()
	setMark(mark)
	err := t.begin(cmd, files, unix.SIGKILL)
	setMark(noMark)
	if err == nil {
		g.trees[f.id] = t
	}
	g.mu.Unlock()
	if err != nil {
		t.group.remove()
		errno, ok := err.(syscall.Errno)
		if !ok {
			errno = unix.EIO
		}
		g.refuse(f.id, errno)
		return
	}
	dispensable(t.pid)
	g.report(frame{kind: frameStarted, id: f.id, numbers: []int64{int64(t.pid), int64(t.start)}, texts: []string{string(t.group)}})
	g.startAwaiting(t)
	go t.run()
	g.all.Go(func() { g.watch(f.id, t) })
}

// watch reports what becomes of a tree.
func (g *guard) watch(id uint64, t *tree) {
	select {
	case <-t.noted:
		g.report(frame{kind: frameNoted, id: id})
	case <-t.exited:
	case <-t.gone:
	}
	select {
	case <-t.exited:
		g.reportExit(id, t)
		<-t.gone
	case <-t.gone:
		select {
		case <-t.exited:
			g.reportExit(id, t)
		default: // not even SIGKILL ended it
		}
	}
	g.mu.Lock()
	delete(g.trees, id)
	g.mu.Unlock()
	t.group.remove()
	g.sweep()
	gone := frame{kind: frameGone, id: id}
	for _, pid := range t.survivors {
		gone.numbers = append(gone.numbers, int64(pid))
	}
	g.report(gone)
}

func (g *guard) reportExit(id uint64, t *tree) {
	g.report(frame{kind: frameExited, id: id, numbers: []int64{int64(t.exit.Code), int64(t.exit.number)}})
}

func (g *guard) refuse(id uint64, errno syscall.Errno) {
	g.report(frame{kind: frameRefused, id: id, numbers: []int64{int64(errno)}})
}

// report sends a frame. Where nobody listens any more, the lifeline has ended, which serve notices.
func (g *guard) report(f frame) {
	g.sending.Lock()
	defer g.sending.Unlock()
	sendFrame(g.conn, f, nil)
}

// hasten has all trees that are there by then sent SIGTERM after grace.EOF, and SIGKILL after grace.Term.
func (g *guard) hasten(grace Grace) {
	time.AfterFunc(grace.EOF, func() { g.each((*tree).press) })
	time.AfterFunc(grace.EOF+grace.Term, func() { g.each((*tree).hurry) })
}

func (g *guard) each(do func(*tree)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, t := range g.trees {
		do(t)
	}
}

// end ends everything below us.
func (g *guard) end() {
	g.mu.Lock()
	for _, t := range g.trees {
		select {
		case t.asked <- Grace{EOF: lifelineEOF, Term: lifelineTerm}:
		default: // being stopped with a grace of its own
		}
	}
	g.mu.Unlock()
	g.hasten(Grace{EOF: lifelineEOF, Term: lifelineTerm})
	g.all.Wait()
	g.sweep()
}
