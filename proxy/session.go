package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/habits"
	"github.com/mcp-workbench/workbench/internal/incoming"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/results"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// Session is one client and what was opened for it.
type Session struct {
	p       *Proxy
	view    atomic.Pointer[view] // what it was last told to serve; changed under mu
	who     principal.Principal
	send    func(msg []byte) // what belongs to no request
	account *account.Account // of what is kept because of the client
	counted *people          // what became of the calls of the user
	// behind reports whether the client has much of that still to read. It is
	// set before the first message; nil means that it never has.
	behind func() bool
	unread *account.Account // of what the client has not read, where servers can wait for it; set with behind
	msg    incoming.Request // Receive's
	// many says that several programs may be its client: what a server says goes
	// to none of them if it may be another's.
	many bool
	// hosts is how many requests of guests are under way; guarded by mu.
	hosts int

	since  time.Time
	number string // tells it from the other sessions of the process

	// ctx is the session's life. It is kept because the work begun by one
	// message goes on after Receive returned.
	ctx    context.Context
	cancel context.CancelCauseFunc
	owed   sync.WaitGroup // answers that are not sent yet
	work   sync.WaitGroup // that nobody waits for

	// leaving is closed by leave when nothing more comes from the client, while
	// what it asked for is still answered.
	leaving chan struct{}
	leave   func()

	mu       sync.Mutex
	closed   bool
	client   *toolbox.Client // nil before the client said who it is
	label    string          // its name
	legacy   bool            // it did so by initialize
	level    string          // that it set by logging/setLevel
	boxes    map[string]*box
	flights  map[flightKey]*flight
	asks     map[string]*ask
	parks    map[uint64]*parked
	consents map[uint64]*consent // of modern clients, numbered as parks are
	grants   map[uint64]int      // by the digests of requests, how often they go on without being asked about anew
	held     []held              // requests of servers that no call can carry yet
	watched  map[string]bool     // resources that a legacy client subscribed to
	tasks    *tasks
	skills   map[*toolbox.Server]*serverSkills // of servers whose skills were listed
	ownTasks map[string]*ownTask               // calls that workbench answers itself, and that have become tasks
	listens  map[*flight]*subscription
	arrears  map[arrear]struct{} // what a client that is behind gets later

	lastFlight, lastAsk, lastPark uint64
	routes                        *routes
	spaces                        *spaces // of all configurations that the session worked by
	claims                        *claims
	told                          map[toolbox.Kind][]byte // the lists that a legacy client knows or was told to read
	opening                       int                     // opens under way: their list changes are told once, at the end
	overdue                       bool                    // and those of a reload with them
	listed                        chan struct{}           // closed and replaced when tools/list was answered
	habit                         habits.Habit
	recalled                      bool // habit has what other sessions saw

	// sharePages says that several servers have apps, so that the pages which results name may be one for another.
	sharePages atomic.Bool
	finder     finder
	considered considered
	shelf      *results.Shelf // large results

	scripts        atomic.Uint64 // calls that scripts have made
	scriptsRunning atomic.Int32
}

var ErrClosed = errors.New("the session is closed")

func newSession(p *Proxy, who principal.Principal, user *account.Account, send func([]byte)) *Session {
	s := &Session{
		p:        p,
		who:      who,
		account:  account.New(account.Client, user),
		send:     send,
		since:    time.Now(),
		counted:  p.root.tallies.user(who.Name),
		number:   strconv.FormatUint(p.root.connected.Add(1), 10),
		boxes:    make(map[string]*box),
		flights:  make(map[flightKey]*flight),
		asks:     make(map[string]*ask),
		parks:    make(map[uint64]*parked),
		consents: make(map[uint64]*consent),
		grants:   make(map[uint64]int),
		watched:  make(map[string]bool),
		tasks:    newTasks(),
		skills:   make(map[*toolbox.Server]*serverSkills),
		ownTasks: make(map[string]*ownTask),
		listens:  make(map[*flight]*subscription),
		arrears:  make(map[arrear]struct{}),
		listed:   make(chan struct{}),
		leaving:  make(chan struct{}),
		shelf:    p.opts.Results.Shelf(),
	}
	s.leave = sync.OnceFunc(func() { close(s.leaving) })
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	s.view.Store(p.view.Load())
	s.spaces, s.claims = s.view.Load().spaces, newClaims()
	s.routes = s.build()
	s.told = maps.Clone(s.routes.lists[legacyEra])
	return s
}

// Throttle implements wire.Throttled.
func (s *Session) Throttle(behind func() bool, unread *account.Account) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.behind, s.unread = behind, unread
}

// Receive takes one message of a stdio client.
func (s *Session) Receive(raw []byte) {
	r := &s.msg
	err := wire.Scan(raw, &r.Message)
	if err == nil && r.Kind == wire.Request {
		err = r.Read()
	}
	if err != nil {
		var bad *wire.Error
		errors.As(err, &bad)
		s.send(errorReply(bad.ID, err))
		return
	}
	s.Handle(r, connection{s}, 0)
}

// Handle takes one message, which was read if it is a request. out is where what
// belongs to it goes, and scope the exchange that its id belongs to: 0 for a
// client that keeps its ids unique.
func (s *Session) Handle(r *incoming.Request, out Outlet, scope uint64) {
	switch r.Kind {
	case wire.Request:
		s.request(r, out, scope)
	case wire.Notification:
		s.notification(&r.Message, scope)
	default:
		s.answer(&r.Message)
	}
}

// Close waits for what is under way, then ends the servers.
func (s *Session) Close(ctx context.Context) error {
	s.leave()
	s.endListens()
	answered := make(chan struct{})
	go func() { s.owed.Wait(); close(answered) }()
	select {
	case <-answered:
	case <-ctx.Done():
	}
	s.mu.Lock()
	s.closed = true
	flights := make([]*flight, 0, len(s.flights))
	for _, f := range s.flights {
		flights = append(flights, f)
	}
	boxes := make([]*box, 0, len(s.boxes))
	for _, b := range s.boxes {
		boxes = append(boxes, b)
	}
	s.mu.Unlock()
	s.p.root.mu.Lock()
	delete(s.p.root.sessions, s)
	s.p.root.mu.Unlock()
	s.cancel(ErrClosed)
	for _, f := range flights {
		f.abandon(nil, wire.Span{})
	}
	errs := make([]error, len(boxes))
	var wg sync.WaitGroup
	for i, b := range boxes {
		wg.Go(func() { errs[i] = b.Close() })
	}
	wg.Wait()
	<-answered
	s.endConsents()
	s.work.Wait()
	s.tasks.close()
	s.shelf.Close()
	s.mu.Lock()
	for uri := range s.watched {
		s.account.Credit(watchSize(uri))
	}
	clear(s.watched)
	for _, kept := range s.skills {
		kept.close()
	}
	clear(s.skills)
	for _, t := range s.ownTasks {
		s.account.Credit(t.size)
	}
	clear(s.ownTasks)
	s.mu.Unlock()
	return errors.Join(errs...)
}

// Busy reports whether a request is under way or waits for its client.
func (s *Session) Busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.flights) > 0 || len(s.parks) > 0 || len(s.consents) > 0
}

// Ended reports whether the session is closed.
func (s *Session) Ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// call is a request as its handlers see it. It is valid only during the handling.
type call struct {
	*incoming.Request
	out    Outlet
	scope  uint64
	modern *modern // nil for a request of the legacy era
}

// own returns the call with bytes of its own, for work that goes on after the
// handling.
func (c *call) own() *call {
	r := *c.Request
	r.Raw = bytes.Clone(r.Raw)
	later := *c
	later.Request = &r
	return &later
}

// newCall makes the call of a message that was scanned and not read yet.
func (s *Session) newCall(m *wire.Message, out Outlet, scope uint64) (*call, error) {
	c := &call{Request: &incoming.Request{Message: *m}, out: out, scope: scope}
	err := c.Read()
	if err == nil {
		c.modern, err = s.modern(c.Request)
	}
	return c, err
}

// introduce notes who the client is, the first time it says so.
func (s *Session) introduce(c toolbox.Client, legacy bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client == nil || legacy && !s.legacy {
		s.client, s.legacy, s.label = &c, legacy, nameIn(c.Info)
	}
}

// request answers or forwards one request.
func (s *Session) request(r *incoming.Request, out Outlet, scope uint64) {
	c := call{Request: r, out: out, scope: scope}
	var err error
	if c.modern, err = s.modern(r); err == nil && c.modern == nil && !s.greeted() && c.MethodName != "initialize" && c.MethodName != "ping" && c.MethodName != "server/discover" {
		err = &wire.Error{Code: wire.CodeInvalidRequest, Message: "the first request must be initialize (or carry the _meta of revision 2026-07-28)"}
	}
	if err != nil {
		c.fail(err)
		return
	}
	switch c.MethodName {
	case "initialize":
		s.initialize(&c)
	case "server/discover", "ping":
		out.Finish(s.view.Load().control.answer(&r.Message, &enginePeer{}))
	case "logging/setLevel":
		s.setLevel(&c)
	case "tools/list":
		s.list(&c, toolbox.Tools)
	case "resources/list":
		s.list(&c, toolbox.Resources)
	case "resources/templates/list":
		s.list(&c, toolbox.Templates)
	case "prompts/list":
		s.list(&c, toolbox.Prompts)
	case "tools/call":
		s.callTool(&c)
	case "prompts/get":
		s.getPrompt(&c)
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		s.resource(&c)
	case "completion/complete":
		s.complete(&c)
	case "subscriptions/listen":
		s.listen(&c)
	case "skills/list", "skills/get", "resources/directory/read":
		s.skillMethod(&c)
	default:
		s.taskMethod(&c)
	}
}

// taskMethod takes the requests about tasks. Two of revision 2025-11-25 are not
// in the extension that came after it.
func (s *Session) taskMethod(c *call) {
	switch {
	case c.MethodName == "tasks/get" || c.MethodName == "tasks/cancel" || c.MethodName == "tasks/update",
		c.MethodName == "tasks/result" && c.modern == nil:
		s.taskRequest(c)
	case c.MethodName == "tasks/list" && c.modern == nil:
		s.listTasks(c)
	default:
		c.fail(&wire.Error{Code: wire.CodeMethodNotFound, Message: "Method not found: " + foreign.NewName(c.MethodName).String()})
	}
}

// fail answers a request that was not registered with an error.
func (c *call) fail(err error) { c.out.Finish(errorReply(c.Bytes(c.ID), err)) }

func (s *Session) greeted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.legacy
}

// initialize notes who the client is and lets the engine answer.
func (s *Session) initialize(c *call) {
	if !c.Params.Present() {
		c.fail(&wire.Error{Code: wire.CodeInvalidParams, Message: "initialize needs params: protocolVersion, capabilities and clientInfo"})
		return
	}
	if c.modern == nil {
		var out [3]wire.Span
		if err := wire.Find(c.Raw, c.Params, []string{"protocolVersion", "capabilities", "clientInfo"}, out[:]); err != nil {
			c.fail(err)
			return
		}
		if n := len(c.Bytes(out[1])) + len(c.Bytes(out[2])); n > maxClient {
			c.fail(&wire.Error{Code: wire.CodeInvalidParams, Message: fmt.Sprintf("capabilities and clientInfo have %d bytes; at most %d are kept", n, maxClient)})
			return
		}
		version, _ := wire.Unquote(c.Bytes(out[0]))
		s.introduce(toolbox.Client{
			Version:      mcp.NegotiateLegacyVersion(version),
			Capabilities: bytes.Clone(c.Bytes(out[1])),
			Info:         bytes.Clone(c.Bytes(out[2])),
		}, true)
	}
	c.out.Finish(s.view.Load().control.answer(&c.Message, &enginePeer{}))
}

// maxClient is the longest that a client may say of itself, in bytes: it is kept,
// and each of its servers is told it.
const maxClient = 64 << 10

// setLevel lets the engine check and answer it and tells all servers: those of
// revision 2026-07-28 by what is sent to them from now on. Servers that are shared
// have no level that one client may set. The answer waits for those that are there.
func (s *Session) setLevel(c *call) {
	peer := enginePeer{ready: true}
	reply := s.view.Load().control.answer(&c.Message, &peer)
	if peer.level == "" {
		c.out.Finish(reply)
		return
	}
	s.mu.Lock()
	s.level = string(peer.level)
	s.mu.Unlock()
	var told []toolbox.Leveled
	for _, b := range s.open() {
		told = append(told, b.SetLevel(string(peer.level))...)
	}
	if len(told) == 0 {
		c.out.Finish(reply)
		return
	}
	if f := s.own(c); f != nil {
		go func() {
			leveled(f.ctx, told)
			f.reply([]byte("{}")) // nothing else is allowed in it
		}()
	}
}

// leveled waits until the servers that are there have taken a log level, for a time.
func leveled(ctx context.Context, told []toolbox.Leveled) {
	ctx, cancel := context.WithTimeout(ctx, toolbox.LevelWait)
	defer cancel()
	for _, t := range told {
		if t.Done == nil {
			continue // it is starting, and takes the level before what is asked of it from now on
		}
		select {
		case <-t.Done:
		case <-ctx.Done():
			return
		}
	}
}

// begin runs f in the background; the end of the session ends its context.
func (s *Session) begin(f func(ctx context.Context)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.work.Go(func() { f(s.ctx) })
	}
}

// notification takes what the client says without wanting an answer.
func (s *Session) notification(m *wire.Message, scope uint64) {
	switch string(m.Bytes(m.Method)) {
	case "notifications/initialized":
		s.begin(s.openMarked)
		s.begin(s.consider)
	case "notifications/cancelled":
		s.cancelled(m, scope)
	case "notifications/progress":
		s.clientProgress(m)
	case "notifications/roots/list_changed":
		for _, b := range s.open() {
			for _, srv := range b.Servers() {
				if !s.p.isShared(srv) {
					srv.Notify(m)
				}
			}
		}
	}
}
