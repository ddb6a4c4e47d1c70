package child

import (
	"context"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/foreign"
)

// A Process is one started process with its descendants. Call Stop when done with it, also after it died by itself:
// that closes our ends of its pipes and tells what is left of it.
type Process struct {
	stdin, stdout *os.File
	stderr        *os.File
	tail          *tail
	root          root
	life          *life

	finished chan struct{} // the tree is gone or given up and the outputs are read

	mu      sync.Mutex
	stopped bool // Stop was called
	asked   bool // and the process had not ended before
}

// life is what becomes known of a tree as time goes on.
type life struct {
	pid       int
	noted     chan struct{} // closed once stop was called and the descendants there were are known
	exited    chan struct{} // closed once exit is set
	exit      Exit
	gone      chan struct{} // closed once survivors is set; always after exited, unless the process survived
	survivors []int
}

func newLife() *life {
	return &life{noted: make(chan struct{}), exited: make(chan struct{}), gone: make(chan struct{})}
}

// A root is the hold that somebody has on a tree. A tree whose process dies by itself is killed without being asked.
type root interface {
	stop(Grace) // begin to end the tree; called at most once
	hurry()     // skip what is left of the grace
}

// Start starts the process. Every error is a *StartError.
func Start(spec Spec) (*Process, error) {
	return start(spec, resolve, func(cmd command, files []*os.File) (*life, root, error) {
		t, err := startTree(cmd, files)
		if err != nil {
			return nil, nil, err
		}
		return t.life, t, nil
	})
}

// start does everything about a Process except finding what is run, and making the tree, for which begin gets the child's
// ends of the pipes.
func start(spec Spec, find func(Spec) (command, error), begin func(command, []*os.File) (*life, root, error)) (*Process, error) {
	cmd, err := find(spec)
	if err != nil {
		return nil, err
	}
	ours, theirs, err := newPipes()
	if err != nil {
		return nil, &StartError{spec.Command, "no pipe: " + err.Error() + lacking(err), err}
	}
	life, root, err := begin(cmd, theirs)
	closeAll(theirs)
	if err != nil {
		closeAll(ours)
		return nil, cmd.explain(err)
	}
	p := &Process{
		stdin: ours[0], stdout: ours[1], stderr: ours[2],
		tail: newTail(spec.StderrLine, spec.Hide),
		root: root, life: life,
		finished: make(chan struct{}),
	}
	go p.tail.readFrom(p.stderr)
	go p.finish()
	return p, nil
}

// Stdin returns the end of the pipe that the process reads from. Write deadlines work. Stop closes it, and so does the
// end of the process.
func (p *Process) Stdin() *os.File { return p.stdin }

// Stdout returns the end of the pipe that the process writes to. Read deadlines work. Soon after the process has ended
// and what it wrote has been read, reading ends, with io.EOF or, where a surviving descendant holds the pipe, with
// os.ErrDeadlineExceeded. Stop closes it, when a pending Read ends with os.ErrClosed.
func (p *Process) Stdout() *os.File { return p.stdout }

// WaitInput returns when nobody can read any more what is written to Stdin: the process has closed it, or ended, or
// Stop closed our end. Where the system does not tell of the first, it returns after one of the others.
func (p *Process) WaitInput() {
	awaitHangup(p.stdin)
	if outputState(p.stdin) != outputEnded {
		<-p.finished
	}
}

// PID returns the number of the process. It may belong to another one after Done is closed.
func (p *Process) PID() int { return p.life.pid }

// Done returns a channel that is closed when the process itself has been waited for. Descendants may be ending still.
func (p *Process) Done() <-chan struct{} { return p.life.exited }

// Exit says how the process ended. Before Done is closed it is the zero Exit.
func (p *Process) Exit() Exit {
	select {
	case <-p.life.exited:
	default:
		return Exit{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	exit := p.life.exit
	exit.Asked = p.asked
	return exit
}

// Tail returns the last lines of stderr, at most 20 of at most 2 KiB each, the line being written included. Where none
// of them would name an error and an earlier one does, that one and what followed it are among them. Lines that are empty
// once they are clean are left out. After Done it waits until what the process wrote has been read, and holds its last
// words.
func (p *Process) Tail() foreign.Words {
	select {
	case <-p.life.exited:
		<-p.tail.done
	default:
	}
	return p.tail.last()
}

// Stop ends the process and all its descendants: it closes stdin, waits grace.EOF, sends SIGTERM, waits grace.Term,
// sends SIGKILL until nothing is left, for two seconds at most. The end of ctx skips the waiting but not the killing.
// It returns when all is over, nil or a *SurvivorError. Calls after the first wait for it and return the same; their
// ctx can hurry it, their grace is ignored.
func (p *Process) Stop(ctx context.Context, grace Grace) error {
	if p.firstStop() {
		p.root.stop(grace.withDefaults())
		select {
		case <-p.life.noted:
		case <-p.life.exited:
		case <-p.life.gone:
		case <-ctx.Done():
		}
		p.stdin.Close() // not before: it may end the process, whose orphans would be strangers
	}
	select {
	case <-p.finished:
	case <-ctx.Done():
		p.root.hurry()
		<-p.finished
	}
	p.stdout.Close()
	if len(p.life.survivors) > 0 {
		return &SurvivorError{slices.Clone(p.life.survivors), watchSurvivors(p.life.survivors)}
	}
	return nil
}

// firstStop reports whether this is the first Stop, and notes whether the process was there to be asked.
func (p *Process) firstStop() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return false
	}
	p.stopped = true
	select {
	case <-p.life.exited:
	default:
		p.asked = true
	}
	return true
}

func (p *Process) isStopped() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stopped
}

// finish sees to the pipes once the process has ended.
func (p *Process) finish() {
	defer close(p.finished)
	select {
	case <-p.life.exited:
	case <-p.life.gone: // not even SIGKILL ended it
	}
	p.stdin.Close()
	before := p.tail.taken.Load()
	go drain(p.stderr, func(time.Duration) bool { return p.tail.taken.Load()-before > pipeMost })
	drain(p.stdout, func(waited time.Duration) bool { return waited >= drainMax || waited >= drainStop && p.isStopped() })
	<-p.tail.done
	p.stderr.Close()
	<-p.life.gone
}

const (
	drainIdle = 50 * time.Millisecond  // how long an open but silent output is read after the process ended
	drainMax  = time.Minute            // how long a slow reader is given for what is in the pipe
	drainStop = 250 * time.Millisecond // the same once Stop was called, when there may be no reader any more
	pipeMost  = 1 << 20                // bytes that a pipe of any system holds: what is behind them the process did not write
)

// drain waits until an output is read to its end, or is over by what is said of the time since the process ended. A
// descendant may hold it open for ever, so reading is cut off after drainIdle, but not before what is in the pipe has been
// read: these may be the last answers of a server that has exited in good order, on their way to a slow client, or words
// that say why it ended.
func drain(output *os.File, over func(waited time.Duration) bool) {
	began := time.Now()
	for pause := time.Millisecond; ; pause = min(2*pause, drainIdle/2) {
		state := outputState(output)
		if state == outputEnded {
			return
		}
		waited := time.Since(began)
		if over(waited) || waited >= drainIdle && state == outputOpen {
			break
		}
		time.Sleep(pause)
	}
	output.SetReadDeadline(time.Now())
}
