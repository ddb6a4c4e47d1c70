package toolbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/calls"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/ring"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox/launch"
	"github.com/mcp-workbench/workbench/toolbox/link"
	"github.com/mcp-workbench/workbench/toolbox/offered"
	"github.com/mcp-workbench/workbench/toolbox/remote"
)

// Server is one server of a toolbox, whether it runs or not. Routes hold on to
// it; it finds the live connection.
type Server struct {
	Toolbox string
	Name    string

	box  *Toolbox
	cfg  config.Server // how it is started; see adjust for the rest
	peer Peer
	log  zerolog.Logger
	poke chan struct{} // an open found the server resting: try now

	account *account.Account       // of what is kept because of it
	lines   *ring.Ring[calls.Line] // what it wrote to standard error, and how it fared
	counts  counters
	lists   *offered.Lists
	reading reading
	queue   queue
	pumps   atomic.Int32                 // who pumps, and who came meanwhile
	holds   atomic.Pointer[Call]         // the log level that is waited for, if any
	remote  *remote.Requester            // nil unless the server is one
	child   atomic.Pointer[link.Process] // the process that was started last, if it is one
	// strayed is when a request was last given up, in Unix nanoseconds.
	strayed atomic.Int64

	// sse says that the server was found to speak the transport of revision 2024-11-05. It belongs to the owner goroutine.
	sse bool
	// legacy says that the server once ended on server/discover or left it
	// unanswered. It belongs to the owner goroutine.
	legacy bool
	// recalling is held while what was seen of the server is taken over.
	recalling sync.Mutex

	// life is within that of the toolbox: quit ends it for a server that is
	// retired. The context is kept because it outlasts all requests.
	life    context.Context
	quit    context.CancelCauseFunc
	bounds  atomic.Pointer[bounds]
	rebound chan struct{} // bounds are others than before

	mu      sync.Mutex
	status  Status
	told    time.Time       // since when it is in the state that the event listener was told last
	changed chan struct{}   // closed and replaced at each change of status
	conn    *conn           // not nil while ready
	hello   *hello          // what it last said of itself; nil if that is not known
	level   string          // of the log, "" for the server's own; told again after each start
	watched map[string]bool // uris of resources whose changes are wanted
	// watchedTasks says how often each task is wanted to be heard of.
	watchedTasks map[string]int
	tried        time.Time                     // when the last start began that failed
	late         bool                          // an open waited for it in vain; until it is ready, none does again
	kept         time.Time                     // until when it is not idle, whatever is asked of it
	retired      bool                          // it takes no more requests
	heir         *Server                       // which takes them instead, if there is one
	hidden       atomic.Pointer[launch.Hiding] // what its words are to be told without
}

// bounds are what limits the work of a server. They are replaced and never
// changed.
type bounds struct {
	config.Timeouts
	maxInFlight int64
	idle        time.Duration // after which it is stopped; 0: it is not
	large       config.LargeResults
	approve     config.Approve
}

// newBounds takes the bounds from a configuration; idle is for one that does not
// say when its server is idle, and concerns no server of this process.
func newBounds(cfg config.Server, idle time.Duration) *bounds {
	b := &bounds{cfg.Timeouts, int64(cmp.Or(cfg.MaxInFlight, config.DefaultMaxInFlight)), cfg.IdleTimeout, cfg.LargeResults, cfg.Approve}
	if b.idle == 0 && cfg.Transport != config.TransportBuiltin {
		b.idle = idle
	}
	return b
}

func newServer(box *Toolbox, cfg config.Server) *Server {
	s := &Server{
		Toolbox: box.Name,
		Name:    cfg.Name,
		box:     box,
		cfg:     cfg,
		peer:    box.opts.Peer,
		log:     box.opts.Logger.With().Str(logkey.Toolbox, box.Name).Str(logkey.Server, cfg.Name).Logger(),
		poke:    make(chan struct{}, 1),
		rebound: make(chan struct{}, 1),
		changed: make(chan struct{}),
		account: account.New(account.Server, nil),
		level:   box.level,
		watched: make(map[string]bool),

		watchedTasks: make(map[string]int),
	}
	s.lines = ring.New[calls.Line](maxLines, maxLineBytes, s.account)
	s.life, s.quit = context.WithCancelCause(box.ctx)
	s.queue.server = s
	s.reading = reading{life: s.life, begin: box.tasks.Begin, read: s.read, keep: s.remember,
		readers: make(map[Kind]*reader), changed: make(chan struct{})}
	s.lists = offered.New(offered.Origin{
		Toolbox: box.Name,
		Account: s.account,
		Log:     s.log,
		Hide:    func(raw []byte) []byte { return s.hidden.Load().JSON(raw) },
		Inside:  cfg.Transport == config.TransportBuiltin,
		Written: cfg.Written,
	}, offered.RulesOf(&cfg))
	s.bounds.Store(newBounds(cfg, box.opts.IdleTimeout))
	s.remote = newRequester(s)
	s.told = time.Now()
	s.status = Status{State: Stopped, Since: s.told}
	switch {
	case cfg.Disabled:
		s.status.State, s.status.Cause = Disabled, errors.New(`it has "disabled": true in the configuration`)
	case cfg.Problem != nil:
		s.status.State, s.status.Cause = Failed, cfg.Problem
	}
	return s
}

// Status returns where the server stands.
func (s *Server) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.status
	st.Tools = len(s.lists.Items(Tools))
	return st
}

// said returns what the server last said of itself; nil if that is not known.
func (s *Server) said() *hello {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hello
}

// words are what the server last said of itself besides its lists; nil if that is not known.
func (s *Server) words() *offered.Said {
	if h := s.said(); h != nil {
		return &h.Said
	}
	return nil
}

// Capabilities returns the capabilities object that the server declared, and
// Instructions what it says of its use, both when it was last ready; they are
// empty if that is not known.
func (s *Server) Capabilities() []byte {
	if h := s.said(); h != nil {
		return h.RawCapabilities
	}
	return nil
}

// Instructions returns the server's own instructions, if it gave any.
func (s *Server) Instructions() foreign.Lines {
	if h := s.said(); h != nil {
		text, _ := wire.Unquote(h.Instructions)
		return foreign.NewLines(text)
	}
	return foreign.Lines{}
}

// Offers reports whether the server said, when it was last ready, that it has
// such a list.
func (s *Server) Offers(k Kind) bool {
	h := s.said()
	return h != nil && h.offers(k)
}

// Builtin is the name of a server inside this process, "" for others.
func (s *Server) Builtin() string { return s.cfg.Builtin }

// LargeResults says what becomes of large results of its tools.
func (s *Server) LargeResults() config.LargeResults { return s.bounds.Load().large }

// Account is charged for what is kept because of the server, whichever of its processes it was.
func (s *Server) Account() *account.Account { return s.account }

// Keep has the server not stopped for idleness for a while: it holds something
// for its client that no request shows, such as a task.
func (s *Server) Keep(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if until := time.Now().Add(d); until.After(s.kept) {
		s.kept = until
	}
}

// strayTime is for how long a server may be working on a request that was given
// up, as far as anybody can tell.
const strayTime = time.Minute

// Strays reports whether the server may be working on a request that nobody
// waits for any more.
func (s *Server) Strays() bool { return time.Now().UnixNano()-s.strayed.Load() < int64(strayTime) }

// Noise says what the server that runs has written to standard output besides messages; "" for nothing.
func (s *Server) Noise() string {
	c := s.live()
	if c == nil {
		return ""
	}
	lines, first := c.noise.heard()
	if lines == 0 {
		return ""
	}
	return fmt.Sprintf("lines on stdout that were not messages: %d, the first: %q", lines, first[0])
}

// LastWords returns the last that the server's process wrote to standard error.
func (s *Server) LastWords() foreign.Words { return s.child.Load().LastWords() }
