package toolbox

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/child"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox/remote"
)

// Toolbox is a group of servers that are opened together.
type Toolbox struct {
	Name string

	surroundings
	ownHTTP bool      // the client was made for this toolbox alone
	once    sync.Once // of start

	mu      sync.Mutex
	servers []*Server // a slice that is replaced and never changed
	opened  bool
	errs    []error             // what the servers could not stop
	level   string              // of the log, for servers that are made later
	watched map[string]*watches // at servers that were left out, by their names
}

// New makes a toolbox; it starts nothing.
func New(cfg config.Toolbox, opts Options) *Toolbox {
	if opts.Spawn == nil {
		opts.Spawn = child.Start
	}
	if opts.MaxMessage == 0 {
		opts.MaxMessage = wire.DefaultMaxMessage
	}
	ownHTTP := false
	if opts.HTTP == nil {
		ownHTTP = true
		opts.HTTP = remote.Client(opts.Environ)
	}
	within := *opts.HTTP
	within.CheckRedirect = remote.SameOrigin
	opts.HTTP = &within
	t := &Toolbox{Name: cfg.Name, ownHTTP: ownHTTP, watched: make(map[string]*watches)}
	t.opts = opts
	t.ctx, t.cancel = context.WithCancelCause(context.Background())
	for _, s := range cfg.Servers {
		t.servers = append(t.servers, newServer(t.Name, &t.surroundings, s, ""))
	}
	return t
}

// Servers returns the servers in the order of the configuration. The slice must not be changed.
func (t *Toolbox) Servers() []*Server {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.servers
}

// Server finds a server by its name.
func (t *Toolbox) Server(name string) (*Server, bool) { return Named(t.Servers(), name) }

// Named finds a server by its name among others.
func Named(servers []*Server, name string) (*Server, bool) {
	i := slices.IndexFunc(servers, func(s *Server) bool { return s.Name == name })
	if i < 0 {
		return nil, false
	}
	return servers[i], true
}

// Opened reports whether Open was called.
func (t *Toolbox) Opened() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.opened
}

// Open starts the servers if that was not done, has those that rest after a failure tried at once, and waits as Await
// does. It fails only with [ErrClosed].
func (t *Toolbox) Open(ctx context.Context, wait time.Duration, names ...string) (err error) {
	first := false
	t.once.Do(func() {
		first = true
		err = t.start()
	})
	if err != nil {
		return err
	}
	if !first {
		for _, s := range t.Servers() {
			s.at.retry()
		}
	}
	t.Await(ctx, wait, names...)
	return nil
}

// Await returns when each server of an open toolbox is ready or has failed, or when wait is over or ctx ends; servers
// that are late go on starting, and those that somebody has logged in to meanwhile are tried again. A server that the
// catalogue knows is waited for only if its start has failed before: its lists are there, and calls wait until it is
// ready. One that was waited for in vain, here or in another run, is not waited for again, but by name. Lists that
// are not to be relied on any more are read anew, which is waited for, too. If names are given, only those servers are
// waited for.
func (t *Toolbox) Await(ctx context.Context, wait time.Duration, names ...string) {
	var unknown, stale []*Server
	for _, s := range t.Servers() {
		if st := s.at.now().Status; s.admits(&st) {
			s.at.retry()
		}
		named := slices.Contains(names, s.Name)
		if (named || len(names) == 0) && s.Refresh(Tools, Prompts, Resources) {
			stale = append(stale, s)
		}
		if !s.memory.known() && (named || len(names) == 0 && !s.at.now().late) {
			unknown = append(unknown, s)
		}
	}
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	Settle(waiting, unknown...)
	lists, done := context.WithTimeout(waiting, othersWait)
	defer done()
	for _, s := range stale {
		s.reading.await(lists)
	}
	if waiting.Err() != nil && ctx.Err() == nil {
		for _, s := range unknown {
			s.memory.noteLate()
		}
	}
}

// Start starts the servers if that was not done, and waits until each is ready or has failed, however long its start
// may take, or until ctx ends. If names are given, only those servers are waited for.
func (t *Toolbox) Start(ctx context.Context, names ...string) (err error) {
	t.once.Do(func() { err = t.start() })
	if err != nil {
		return err
	}
	servers := slices.Clone(t.Servers())
	if len(names) > 0 {
		servers = slices.DeleteFunc(servers, func(s *Server) bool { return !slices.Contains(names, s.Name) })
	}
	Settle(ctx, servers...)
	return context.Cause(ctx)
}

// Settle waits until servers have started or failed to, and their lists are read, or until ctx ends.
func Settle(ctx context.Context, servers ...*Server) {
	for _, s := range servers {
		s.at.settle(ctx)
	}
	for _, s := range servers {
		lists, cancel := context.WithTimeout(ctx, othersWait)
		s.reading.await(lists)
		cancel()
	}
}

// othersWait is how long an open waits for the lists besides the tools of a server that is ready. Most have them at
// once; some never answer.
const othersWait = 2 * time.Second

// start has the servers started.
func (t *Toolbox) start() error {
	t.RecallOwn()
	t.mu.Lock()
	t.opened = true
	servers, closed := t.servers, false
	for _, s := range servers {
		closed = !t.begin(s) || closed
	}
	t.mu.Unlock()
	if !closed {
		return nil
	}
	for _, s := range servers {
		s.pump() // what waits for them fails
	}
	return ErrClosed
}

// begin gives a server its owner. Whoever asks for it from now on waits for it to start. It reports false if the
// toolbox was closed.
func (t *Toolbox) begin(s *Server) bool {
	s.memory.recalling.Lock() // what is being recalled comes before what it says now
	s.at.expect(Stopped, Starting)
	s.memory.recalling.Unlock()
	if t.tasks.Begin(func() { t.supervise(s) }) {
		return true
	}
	s.at.expect(Starting, Stopped) // nobody is to wait for it
	return false
}

// supervise owns one server. Its trouble ends no other; what would not stop is kept for Close.
func (t *Toolbox) supervise(s *Server) {
	if err := own(s); err != nil {
		t.mu.Lock()
		t.errs = append(t.errs, err)
		t.mu.Unlock()
	}
}

// Close ends all servers and waits for them; it may be called twice. The error names what would not stop.
func (t *Toolbox) Close() error {
	t.tasks.End()
	t.cancel(ErrClosed)
	t.tasks.Wait()
	if t.ownHTTP {
		t.opts.HTTP.CloseIdleConnections()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return errors.Join(t.errs...)
}

// Leveled is a server that is told a log level. Done is closed when it has answered; it is nil for one that is told
// when it has started.
type Leveled struct {
	Server *Server
	Done   <-chan struct{}
}

// SetLevel has the servers log from a level on: those that run and those that are starting in the order of all that
// they are sent, all others when they start. behind, if not nil, does it later for a server that others are to reach
// first, and reports whether it will.
func (t *Toolbox) SetLevel(level string, behind func(*Server, func()) bool) (told []Leveled) {
	t.mu.Lock()
	t.level = level
	servers := t.servers
	t.mu.Unlock()
	for _, s := range servers {
		if behind != nil && behind(s, func() { s.setLevel(level) }) {
			told = append(told, Leveled{s, nil})
		} else if done, is := s.setLevel(level); is {
			told = append(told, Leveled{s, done})
		}
	}
	return told
}
