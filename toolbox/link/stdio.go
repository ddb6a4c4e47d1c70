package link

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/child"
	"github.com/mcp-workbench/workbench/internal/runner"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Program says how the process behind a link is started.
type Program struct {
	Spec  child.Spec
	Spawn func(child.Spec) (*child.Process, error)
	// Runner watches the package runner that the process is; nil if it is none.
	Runner *runner.Watch
	Max    int // the longest message taken from it, in bytes
	Log    zerolog.Logger
}

// stdio speaks to a child process over its standard streams.
type stdio struct {
	plain
	process Process
	max     int
	out     *wire.Outbox
	done    chan struct{}

	mu    sync.Mutex
	cause error
}

// Stdio starts a process. No context bounds its life: it is ended by Close alone.
func Stdio(p Program) (Link, error) {
	proc, err := p.Spawn(p.Spec)
	if err != nil {
		return nil, err
	}
	return &stdio{
		process: Process{proc: proc, log: p.Log, runner: p.Runner},
		max:     p.Max,
		out:     wire.NewOutbox(proc.Stdin(), 0),
		done:    make(chan struct{}),
	}, nil
}

func (l *stdio) Begin(r Receiver) { go l.read(r) }

// read takes what the child writes until it ends. The child is gone when it was waited for; a descendant that holds the
// pipe does not keep it alive.
func (l *stdio) read(r Receiver) {
	defer close(l.done)
	input := make(chan struct{})
	go func() {
		defer close(input)
		l.process.proc.WaitInput()
		l.outlives("input", r)
	}()
	defer func() { <-input }()
	in := wire.NewReader(l.process.proc.Stdout(), l.max)
	var m wire.Message
	for {
		line, err := in.Next()
		if err != nil {
			if long, ok := errors.AsType[*wire.TooLongError](err); ok {
				r.TooLong(long)
				continue
			}
			break
		}
		if err := wire.Scan(line, &m); err == nil {
			in.Lend(&m)
		} else if err := wire.Forgive(line, &m, err); err != nil {
			r.Noise(line, err)
			continue
		}
		if !l.process.Spoke() {
			l.process.spoke.Store(true)
		}
		r.Receive(&m, 0)
	}
	l.outlives("output", r)
	l.ended()
}

// exitAfterEOF is how long a child may take to exit after its input or output ended, which is what an exiting process
// looks like from here, and how long word of that may take to come. On a machine that stands still for a moment it is
// long.
const exitAfterEOF = time.Second

// outlives has a child ended that lives on after the end of its input or output: it serves nobody any more. What was
// written to it before may be lost.
func (l *stdio) outlives(what string, r Receiver) {
	exiting := time.NewTimer(exitAfterEOF)
	defer exiting.Stop()
	select {
	case <-l.process.proc.Done():
	case <-exiting.C:
		r.Break(fmt.Errorf("closed its %s and did not exit in %v", what, exitAfterEOF))
		<-l.process.proc.Done()
	}
}

// ended finds the reason when the child is over.
func (l *stdio) ended() {
	exit := l.process.proc.Exit()
	cause := &ExitError{How: exit.String(), Code: exit.Code, Said: Said{Stderr: l.process.LastWords()}}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cause == nil { // else Close was called
		l.cause = cause
	}
}

func (l *stdio) Send(msg []byte, _ uint64) error {
	err := l.out.Offer(msg)
	if errors.Is(err, wire.ErrFull) {
		return ErrBusy
	}
	return err
}

// Tell has nobody to call later: what is in the outbox is written, or the child is gone.
func (l *stdio) Tell(msg []byte, _ func(error)) error { return l.Send(msg, 0) }

func (l *stdio) Process() *Process     { return &l.process }
func (l *stdio) Done() <-chan struct{} { return l.done }

func (l *stdio) Cause() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cause
}

// endOfInput is how long a child may take to exit after the end of its input, before it is sent SIGTERM. Clients wait
// two seconds for us in the same way, of which one is for calls that are under way.
const endOfInput = 750 * time.Millisecond

// endOfTerm is how long it then has until SIGKILL.
const endOfTerm = 750 * time.Millisecond

// endOfInstall is how long a package runner has, after SIGTERM, to take back what it has half installed.
const endOfInstall = 3 * time.Second

func (l *stdio) Close(ctx context.Context) error {
	l.mu.Lock()
	if l.cause == nil {
		l.cause = ErrClosed
	}
	l.mu.Unlock()
	_ = l.out.Close()
	grace := child.Grace{EOF: endOfInput, Term: endOfTerm}
	installing := l.process.Installs()
	if installing {
		l.process.end()
		grace = child.Grace{EOF: -1, Term: endOfInstall}
	}
	err := l.process.proc.Stop(ctx, grace)
	select {
	case <-l.done:
	case <-ctx.Done():
	}
	if installing {
		l.process.mend()
	}
	return err
}
