package toolbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/child"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox/launch"
)

// stdioLink speaks to a child process over its standard streams.
type stdioLink struct {
	proc *child.Process
	max  int
	out  *wire.Outbox
	done chan struct{}
	// fetches is the installation that the child may be in the middle of; nil for one that installs nothing.
	fetches *fetching
	spoken  atomic.Bool // a message came from it

	mu    sync.Mutex
	cause error
}

// dialStdio starts the child. No context bounds its life: it is ended by Close
// alone.
func (s *Server) dialStdio(cfg config.Server) (link, error) {
	spec, err := launch.Child(s.Toolbox, cfg, s.box.opts.Environ, s.box.opts.Sandboxes)
	if err != nil {
		return nil, err
	}
	fetches := s.fetching(launch.Environment(cfg, s.box.opts.Environ))
	spec.Hide = s.hidden.Load().Text
	spec.StderrLine = func(line foreign.Text) {
		s.wrote(line)
		s.log.Debug().Stringer(logkey.Stderr, line).Msg("the server wrote to standard error")
	}
	proc, err := s.box.opts.Spawn(spec)
	if err != nil {
		return nil, err
	}
	l := &stdioLink{proc: proc, max: s.box.opts.MaxMessage, out: wire.NewOutbox(proc.Stdin(), 0), done: make(chan struct{}), fetches: fetches}
	s.child.Store(l)
	return l, nil
}

func (l *stdioLink) Begin(r receiver) { go l.read(r) }

// read takes what the child writes until it ends. The child is gone when it
// was waited for; a descendant that holds the pipe does not keep it alive.
func (l *stdioLink) read(r receiver) {
	defer close(l.done)
	input := make(chan struct{})
	go func() {
		defer close(input)
		l.proc.WaitInput()
		l.outlives("input", r)
	}()
	defer func() { <-input }()
	in := wire.NewReader(l.proc.Stdout(), l.max)
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
		if err := wire.Scan(line, &m); err != nil {
			r.Noise(line, err)
			continue
		}
		if !l.spoken.Load() {
			l.spoken.Store(true)
		}
		r.Receive(&m, 0)
	}
	l.outlives("output", r)
	l.ended()
}

// exitAfterEOF is how long a child may take to exit after its input or output
// ended, which is what an exiting process looks like from here.
const exitAfterEOF = 250 * time.Millisecond

// outlives has a child ended that lives on after the end of its input or output:
// it serves nobody any more. What was written to it before may be lost.
func (l *stdioLink) outlives(what string, r receiver) {
	exiting := time.NewTimer(exitAfterEOF)
	defer exiting.Stop()
	select {
	case <-l.proc.Done():
	case <-exiting.C:
		r.Broken(fmt.Errorf("closed its %s and did not exit", what))
		<-l.proc.Done()
	}
}

// ended finds the reason when the child is over.
func (l *stdioLink) ended() {
	cause := &ExitError{How: l.proc.Exit().String(), Stderr: l.proc.Tail()}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cause == nil { // else Close was called
		l.cause = cause
	}
}

func (l *stdioLink) Send(msg []byte, _ uint64) error {
	err := l.out.Offer(msg)
	if errors.Is(err, wire.ErrFull) {
		return ErrBusy
	}
	return err
}

func (l *stdioLink) Abandon(uint64)        {}
func (l *stdioLink) Handshaken(string)     {}
func (l *stdioLink) Done() <-chan struct{} { return l.done }
func (l *stdioLink) PID() int              { return l.proc.PID() }

func (l *stdioLink) Cause() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cause
}

// endOfInput is how long a child may take to exit after the end of its input,
// before it is sent SIGTERM. Clients wait two seconds for us in the same way, of
// which one is for calls that are under way.
const endOfInput = 750 * time.Millisecond

// endOfTerm is how long it then has until SIGKILL.
const endOfTerm = 750 * time.Millisecond

// endOfInstall is how long a package runner has, after SIGTERM, to take back what it has half installed.
const endOfInstall = 3 * time.Second

func (l *stdioLink) Close(ctx context.Context) error {
	l.mu.Lock()
	if l.cause == nil {
		l.cause = ErrClosed
	}
	l.mu.Unlock()
	_ = l.out.Close()
	grace := child.Grace{EOF: endOfInput, Term: endOfTerm}
	installing := l.installing()
	if installing {
		grace = child.Grace{EOF: -1, Term: endOfInstall}
	}
	err := l.proc.Stop(ctx, grace)
	select {
	case <-l.done:
	case <-ctx.Done():
	}
	if installing {
		l.fetches.mend()
	}
	return err
}
