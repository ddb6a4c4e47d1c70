package toolbox

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox/launch"
	"github.com/mcp-workbench/workbench/toolbox/link"
	"github.com/mcp-workbench/workbench/toolbox/offered"
	"github.com/mcp-workbench/workbench/toolbox/remote"
	"github.com/mcp-workbench/workbench/toolbox/rpc"
)

// Server is one server of a toolbox, whether it runs or not. Routes hold on to it; it finds the live connection.
type Server struct {
	Toolbox string
	Name    string

	*sender  // what clients ask of it
	*watches // what else is wanted of it
	*lines   // what it wrote to standard error, and how it fared
	introduction

	box  *surroundings
	cfg  config.Server // how it is started; see adjust for the rest
	peer Peer
	log  zerolog.Logger

	at      *standing
	lists   *offered.Lists
	reading *reading
	memory  *memory
	counts  rpc.Counts
	account *account.Account // of what is kept because of it
	bounds  atomic.Pointer[bounds]
	rebound chan struct{}                 // bounds are others than before
	hidden  atomic.Pointer[launch.Hiding] // what its words are to be told without
	remote  *remote.Requester             // nil unless the server is one
	child   atomic.Pointer[link.Process]  // the process that was started last, if it is one
	heir    atomic.Pointer[Server]        // the server in its place, once it is retired

	// life is within that of the toolbox: quit ends it for a server that is retired. The context is kept because it
	// outlasts all requests.
	life context.Context
	quit context.CancelCauseFunc
}

func newServer(toolbox string, box *surroundings, cfg config.Server, level string) *Server {
	s := &Server{
		Toolbox: toolbox,
		Name:    cfg.Name,
		box:     box,
		cfg:     cfg,
		peer:    box.opts.Peer,
		log:     box.opts.Logger.With().Str(logkey.Toolbox, toolbox).Str(logkey.Server, cfg.Name).Logger(),
		rebound: make(chan struct{}, 1),
		account: account.New(account.Server, nil),
	}
	s.life, s.quit = context.WithCancelCause(box.ctx)
	s.bounds.Store(newBounds(cfg, box.opts.IdleTimeout))
	s.hello.Store(new(rpc.Hello))
	s.remote = newRequester(toolbox, cfg, &box.opts, &s.hidden)
	first := Status{State: Stopped}
	switch {
	case cfg.Disabled:
		first.State, first.Cause = Disabled, errors.New(`it has "disabled": true in the configuration`)
	case cfg.Problem != nil:
		first.State, first.Cause = Failed, cfg.Problem
	}
	s.lines = newLines(s.account, box.opts.Masks)
	launch.Tell(box.opts.Masks, &cfg)
	s.hidden.Store(launch.Masking(box.opts.Masks))
	s.at = newStanding(first, level, s.lines.noteState)
	s.sender = newSender(identity{toolbox, cfg.Name}, s.at, &s.bounds, &s.counts, func() bool { return s.remote.LoggedIn() },
		func(k Kind, key string) string { return s.lists.LeftOut(k, key) })
	s.watches = &watches{at: s.at, life: s.life, begin: box.tasks.Begin, updated: s.mayHaveChanged,
		uris: make(map[string]bool), tasks: make(map[string]int)}
	s.lists = offered.New(offered.Origin{
		Toolbox: toolbox,
		Account: s.account,
		Log:     s.log,
		Texts:   box.opts.Texts,
		Hide:    func(raw []byte) []byte { return s.hidden.Load().JSON(raw) },
		Inside:  cfg.Transport == config.TransportBuiltin,
		Written: cfg.Written,
	}, offered.RulesOf(&cfg))
	s.reading = &reading{lists: s.lists, at: s.at, life: s.life, begin: box.tasks.Begin, differ: func(k Kind) { s.peer.Changed(s, k) },
		within: func() time.Duration { return s.bounds.Load().Start }, readers: make(map[Kind]*reader), changed: make(chan struct{})}
	s.memory = &memory{catalogue: box.opts.Catalogue, cfg: cfg, environ: box.opts.Environ, client: box.opts.Client,
		at: s.at, said: &s.introduction, lists: s.lists, reading: s.reading, hidden: &s.hidden}
	s.reading.keep = s.memory.remember
	return s
}

// newRequester makes what makes the requests to the server of a toolbox; nil unless it is remote.
func newRequester(toolbox string, cfg config.Server, opts *Options, hidden *atomic.Pointer[launch.Hiding]) *remote.Requester {
	if cfg.URL == "" {
		return nil
	}
	with := remote.Options{Toolbox: toolbox, Server: cfg.Name, HTTP: opts.HTTP, Logins: opts.Logins, Environ: opts.Environ, Secret: opts.Secret,
		Masks: opts.Masks, Hiding: hidden}
	if login := opts.Login; login != nil {
		with.Renewed = func(err error) { login(toolbox, cfg.Name, err) }
	}
	return remote.New(cfg, with)
}

// Status returns where the server stands.
func (s *Server) Status() Status {
	st := s.at.now().Status
	st.Tools = len(s.lists.Items(Tools))
	return st
}

// mayHaveChanged tells the client that a resource may have changed while nobody told of it.
func (s *Server) mayHaveChanged(uri string) {
	params := wire.NewObject(nil).Text("uri", uri).End()
	s.peer.Notification(s, scanOwn(wire.AppendNotification(nil, "notifications/resources/updated", params)), nil)
}

// ready waits for the connection of the server, or of the one that is in its place by now, and says which of them it
// is.
func (s *Server) ready(ctx context.Context) (*Server, *rpc.Conn, error) {
	at, c, err := s.await(ctx)
	if err != nil {
		return nil, nil, err
	}
	for s.sender != at {
		s = s.heir.Load() // set before that of the sender
	}
	return s, c, nil
}

// LeadsTo reports whether what is asked of the server is asked of another by now: of itself, or of the one that has come
// into its place.
func (s *Server) LeadsTo(other *Server) bool {
	for ; s != nil && s != other; s = s.heir.Load() {
	}
	return s != nil
}

// Peer is the client's side of the server.
func (s *Server) Peer() Peer { return s.peer }

// Builtin is the name of a server inside this process, "" for others.
func (s *Server) Builtin() string { return s.cfg.Builtin }

// LargeResults says what becomes of large results of its tools.
func (s *Server) LargeResults() config.LargeResults { return s.bounds.Load().large }

// Account is charged for what is kept because of the server, whichever of its processes it was.
func (s *Server) Account() *account.Account { return s.account }

// Counts is what is counted of the server, which its owner adds the notifications to that the client was not given.
func (s *Server) Counts() *rpc.Counts { return &s.counts }

// Noise says what the server that runs has written to standard output besides messages; "" for nothing.
func (s *Server) Noise() string {
	c := s.at.live()
	if c == nil {
		return ""
	}
	lines, first := c.Heard()
	if lines == 0 {
		return ""
	}
	return fmt.Sprintf("lines on stdout that were not messages: %d, the first: %q", lines, first[0])
}

// LastWords returns the last that the server's process wrote to standard error.
func (s *Server) LastWords() foreign.Words { return s.child.Load().LastWords() }
