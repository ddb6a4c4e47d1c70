package proxy

import (
	"bytes"
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/incoming"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/shelf"
	"github.com/mcp-workbench/workbench/toolbox"
)

// newSession makes the session of one client and puts its parts together.
func newSession(p *Proxy, of *Client) *Session {
	opts, root, who := &p.opts, p.root, of.Principal
	s := &Session{
		opts:    opts,
		who:     who,
		account: account.New(account.Client, of.Account),
		since:   time.Now(),
		number:  strconv.FormatUint(root.connected.Add(1), 10),
		work:    newBackground(),
		asks:    newAsks(),
		states:  newStates(p.seal),
		waiting: new(waiting),
		leaving: make(chan struct{}),
		results: opts.Results.Shelf(),
	}
	s.view.Store(p.view.Load())
	s.left = func() {
		root.mu.Lock()
		defer root.mu.Unlock()
		delete(root.sessions, s)
	}
	s.leave = sync.OnceFunc(func() { close(s.leaving) })
	begin := func(f func(context.Context)) { s.work.begin(f) }
	s.line = newLine(of.Send, s.work.begin)
	s.line.throttle(of.Behind, of.Unread)
	s.profile = newProfile(opts.Clients, begin)
	s.log = loggerOf(opts.Logger, s.number, s.profile)
	s.requests = newRequests(s.account, &p.buffers)
	s.shelf = shelf.New(s.view.Load().View, shelf.Options{
		New:     s.newToolbox,
		Legacy:  s.profile.greeted,
		Changed: s.tellChanged,
		Begin:   begin,
		Retire:  p.retire,
	})
	s.watches = newWatches(s.account, func() shelf.Lists { return s.shelf.Routes().Steady })
	s.tasks = newTasks(opts.Tasks, who.Name, begin)
	s.ownTasks = newOwnTasks(s.account, s.requests.abandon)
	s.desk = &desk{
		ctx:      s.work.ctx,
		requests: s.requests,
		profile:  s.profile,
		turns:    newTurns(s.account),
		recorder: &recorder{log: root.opts.Calls, masks: opts.Toolbox.Masks, user: who.Name, session: s.number},
		forwarding: &forwarding{
			tallies: &root.tallies,
			counted: root.tallies.user(who.Name),
			tracer:  opts.Tracer,
			asks:    s.asks,
			states:  s.states,
			waiting: s.waiting,
			tasks:   s.tasks,
			shelf:   s.results,
			links:   func() bool { return s.profile.known().knowsLinks() },
			logger:  s.log,
			rename:  func(f *flight, m *wire.Message) *wire.Message { return withPlaces(s.shelf, f, m) },
		},
	}
	s.taskDesk = &taskDesk{
		tasks:   s.tasks,
		ours:    s.ownTasks,
		asks:    s.asks,
		begin:   begin,
		own:     s.desk.own,
		servers: s.shelf.Servers,
		reach:   s.reach,
	}
	s.peer = &peer{
		many:     of.Many,
		profile:  s.profile,
		work:     s.work,
		requests: s.requests,
		asks:     s.asks,
		states:   s.states,
		waiting:  s.waiting,
		tasks:    s.tasks,
		taskDesk: s.taskDesk,
		shelf:    s.shelf,
		watches:  s.watches,
		line:     s.line,
	}
	s.approvals = &approvals{
		register: opts.Approvals,
		log:      s.log,
		tell:     root.opts.Trail,
		user:     who.Name,
		session:  s.number,
		profile:  s.profile,
		states:   s.states,
		asks:     s.asks,
		line:     s.line,
		begin:    s.work.begin,
		leaving:  s.leaving,
	}
	s.considering = &considering{
		file:    func() *config.Untrusted { return s.shelf.View().Cfg.Untrusted },
		use:     opts.Trust,
		log:     s.log,
		profile: s.profile,
		states:  s.states,
		asks:    s.asks,
		line:    s.line,
		begin:   begin,
	}
	s.resourceDesk = &resourceDesk{
		desk:    s.desk,
		shelf:   s.shelf,
		watches: s.watches,
		tasks:   s.tasks,
		watched: p.watched,
	}
	s.caller = &caller{s.desk, s.shelf, s.approvals}
	s.opener = &opener{s.desk, s.shelf, s.leaving}
	s.finder = &finder{desk: s.desk, shelf: s.shelf, indexes: &root.indexes, meanings: opts.Meanings, seen: s.newSeen}
	s.scripts = &scripts{desk: s.desk, run: opts.Scripts, use: s.caller.useTool, pace: of.Pace}
	return s
}

// newToolbox makes the session's own part of a toolbox.
func (s *Session) newToolbox(cfg config.Toolbox) *toolbox.Toolbox {
	now, opts := s.profile.known(), s.opts.Toolbox
	opts.Peer, opts.Principal, opts.Unread = s.peer, s.who, s.line.account()
	opts.Logger = loggerOf(opts.Logger, s.number, s.profile)
	if now.client != nil {
		opts.Client = *now.client
	}
	b := toolbox.New(cfg, opts)
	if now.level != "" {
		b.SetLevel(now.level, nil) // nothing runs yet: it is noted
	}
	return b
}

// newSeen makes a client's own part of a toolbox that is not to be opened, to tell what was seen of its servers.
func (s *Session) newSeen(cfg config.Toolbox) *toolbox.Toolbox {
	opts := s.opts.Toolbox
	opts.Peer, opts.Principal, opts.Event = s.peer, s.who, nil
	return toolbox.New(cfg, opts)
}

// reach opens a toolbox and waits for a server of it; nil if there is none that the client may use.
func (s *Session) reach(ctx context.Context, name, server string) *toolbox.Server {
	if !s.who.May(name) {
		return nil
	}
	b, err := s.shelf.Box(name)
	if err != nil {
		return nil
	}
	srv, ok := b.Server(server)
	if !ok {
		return nil
	}
	if !b.Opened() {
		if _, err := s.shelf.Open(ctx, b, true, server); err != nil {
			return nil
		}
	}
	toolbox.Settle(ctx, srv)
	return srv
}

// Throttle implements wire.Throttled.
func (s *Session) Throttle(behind func() bool, unread *account.Account) {
	s.line.throttle(behind, unread)
}

// Receive takes one message of a stdio client.
func (s *Session) Receive(raw []byte) {
	r := &s.msg
	err := wire.Scan(raw, &r.Message)
	if err != nil {
		err = wire.Forgive(raw, &r.Message, err)
	}
	if err == nil && r.Kind == wire.Request {
		err = r.Read()
	}
	if err != nil {
		if !s.Misanswered(err) {
			s.line.send(wire.AsError(err).Append(nil))
		}
		return
	}
	s.received = call{Request: r, out: s.line}
	s.handle(&s.received)
}

// Misanswered takes what is wrong with a message of the client that is none. It reports whether the message was to answer
// a question, of which whoever asked is told that it failed.
func (s *Session) Misanswered(err error) bool { return s.asks.refuse(err) }

// Handle takes one message, which was read if it is a request. out is where what belongs to it goes, and scope the
// exchange that its id belongs to: 0 for a client that keeps its ids unique.
func (s *Session) Handle(r *incoming.Request, out Outlet, scope uint64) {
	s.handle(&call{Request: r, out: out, scope: scope})
}

func (s *Session) handle(c *call) {
	switch c.Kind {
	case wire.Request:
		s.request(c)
	case wire.Notification:
		s.notification(&c.Message, c.scope)
	default:
		s.asks.answer(&c.Message)
	}
}

// Close waits for what is under way, then ends the servers.
func (s *Session) Close(ctx context.Context) error {
	s.leave()
	s.watches.endAll()
	select {
	case <-s.requests.answered():
	case <-ctx.Done():
	}
	s.left()
	s.resourceDesk.close(isShared)
	s.shelf.Shut()
	s.asks.close()
	s.ownTasks.close()
	s.work.end()
	s.requests.close()
	s.states.end()
	s.waiting.close()
	err := s.shelf.Close()
	<-s.requests.answered()
	s.approvals.close()
	s.work.tasks.Wait()
	s.tasks.close()
	s.results.Close()
	s.shelf.Forget()
	return err
}

// request answers or forwards one request.
func (s *Session) request(c *call) {
	var err error
	c.terms, err = readTerms(c.Request)
	switch {
	case err != nil:
	case c.terms.IsStateless() && s.profile.known().client == nil:
		s.profile.introduce(toolbox.Client{Version: c.Version, Info: bytes.Clone(c.Bytes(c.Info)), Capabilities: c.terms.capabilities}, c.terms.Era)
	case c.terms.HasHandshake() && !s.profile.greeted() && c.MethodName != "initialize" && c.MethodName != "ping" && c.MethodName != "server/discover":
		err = &wire.Error{Code: wire.CodeInvalidRequest, Message: "the first request must be initialize (or carry the _meta of revision 2026-07-28)"}
	}
	if err != nil {
		c.fail(err)
		return
	}
	switch c.MethodName {
	case "initialize":
		s.initialize(c)
	case "server/discover", "ping":
		c.out.Finish(s.view.Load().control.answer(&c.Message, &enginePeer{}))
	case "logging/setLevel":
		s.setLevel(c)
	case "tools/list":
		s.list(c, toolbox.Tools)
	case "resources/list":
		s.list(c, toolbox.Resources)
	case "resources/templates/list":
		s.list(c, toolbox.Templates)
	case "prompts/list":
		s.list(c, toolbox.Prompts)
	case "tools/call":
		s.callTool(c)
	case "prompts/get":
		getPrompt(s.desk, s.shelf, c)
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		s.resourceDesk.answer(c)
	case "completion/complete":
		complete(s.desk, s.shelf, c)
	case "subscriptions/listen":
		s.resourceDesk.listen(c)
	case "skills/list", "skills/get", "resources/directory/read":
		skillMethod(s.desk, s.shelf, c)
	default:
		s.taskMethod(c)
	}
}

// taskMethod takes the requests about tasks. Two of revision 2025-11-25 are not in the extension that came after it.
func (s *Session) taskMethod(c *call) {
	switch {
	case c.MethodName == "tasks/get" || c.MethodName == "tasks/cancel" || c.MethodName == "tasks/update",
		c.MethodName == "tasks/result" && c.terms.Has(c.MethodName):
		s.taskDesk.answer(c)
	case c.MethodName == "tasks/list" && c.terms.Has(c.MethodName):
		s.taskDesk.list(c)
	default:
		c.fail(&wire.Error{Code: wire.CodeMethodNotFound, Message: "Method not found: " + foreign.NewName(c.MethodName).String()})
	}
}

// notification takes what the client says without wanting an answer.
func (s *Session) notification(m *wire.Message, scope uint64) {
	switch string(m.Bytes(m.Method)) {
	case "notifications/initialized":
		s.work.begin(s.shelf.OpenMarked)
		s.work.begin(s.considering.ask)
	case "notifications/cancelled":
		s.requests.cancel(m, scope)
	case "notifications/progress":
		s.asks.progress(m)
	case "notifications/roots/list_changed":
		later := *m
		later.Raw = bytes.Clone(m.Raw)
		for _, b := range s.shelf.Opened() {
			for _, srv := range b.Servers() {
				if !isShared(srv) && !s.desk.turns.behind(srv, len(m.Raw), func() { srv.Notify(&later) }) {
					srv.Notify(m)
				}
			}
		}
	}
}
