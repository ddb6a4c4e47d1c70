package proxy

import (
	"bytes"
	"context"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/find"
	"github.com/mcp-workbench/workbench/internal/incoming"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/results"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/shelf"
	"github.com/mcp-workbench/workbench/toolbox"
)

// Session is one client and what was opened for it. It holds its parts together, each of which has its own lock.
type Session struct {
	opts    *Options             // of its front
	view    atomic.Pointer[view] // what it was last told to serve; control and direct are read from it
	warm    atomic.Pointer[view] // the one of which Prepare has opened what is open without being asked for
	who     principal.Principal
	account *account.Account // of what is kept because of the client
	since   time.Time
	number  string           // tells it from the other sessions of the process
	msg     incoming.Request // Receive's

	// shared reports whether sessions share a server, and watched whether any wants to hear of a resource of a server.
	shared  func(*toolbox.Server) bool
	watched func(srv *toolbox.Server, own string) bool

	shelf    *shelf.Shelf
	watches  *watches
	work     *background
	line     *line
	profile  *profile
	requests *requests
	asks     *asks
	states   *states
	waiting  *waiting
	tasks    *tasks
	ownTasks *ownTasks
	peer     *peer

	recorder    *recorder
	forwarding  *forwarding
	taskDesk    *taskDesk
	approvals   *approvals
	considering *considering

	// leaving is closed by leave when nothing more comes from the client, while
	// what it asked for is still answered.
	leaving chan struct{}
	leave   func()
	left    func() // takes the session out of those of its front

	indexes *find.Shared // that all sessions search
	finder  finder
	results *results.Shelf // large results

	scripts        atomic.Uint64 // calls that scripts have made
	scriptsRunning atomic.Int32
}

// Busy reports whether a request is under way or waits for its client.
func (s *Session) Busy() bool { return s.requests.count() > 0 || len(s.states.all()) > 0 }

// Ended reports whether the session is closed.
func (s *Session) Ended() bool { return s.work.ended() }

// greeted reports whether the client has introduced itself by initialize.
func (s *Session) greeted() bool { return s.profile.known().legacy }

// Revision is the one agreed on at initialize, "" before that.
func (s *Session) Revision() string {
	if now := s.profile.known(); now.legacy {
		return now.client.Version
	}
	return ""
}

// Abandon gives up a request whose client is gone, if it is under way.
func (s *Session) Abandon(scope uint64, id []byte) { s.requests.abandon(keyOf(scope, id)) }

// take registers a request; nil if it is refused, which is then answered.
func (s *Session) take(c *call) *flight { return s.register(c, &flight{by: s.forwarding}) }

// own registers a request that is worked on here, under f.ctx.
func (s *Session) own(c *call) *flight {
	f := &flight{by: s.forwarding}
	f.ctx, f.cancel = context.WithCancel(s.work.ctx)
	if s.register(c, f) == nil {
		f.cancel()
		return nil
	}
	f.record.here(c)
	return f
}

// register has a request worked on by f.
func (s *Session) register(c *call, f *flight) *flight {
	now := s.profile.known()
	f.work, f.level = f, now.level
	f.cached = eras.Cacheable(c.MethodName)
	f.record.by, f.record.mode = s.recorder, s.recorder.log.Mode()
	if err := s.requests.take(&f.request, c); err != nil {
		c.out.Finish(errorReply(f.id, err))
		return nil
	}
	if f.record.on() {
		f.record.asked(&f.request, c, now.name)
	}
	return f
}

// ownAndNarrate registers a request that is worked on here and will wait for servers.
func (s *Session) ownAndNarrate(c *call, servers ...*toolbox.Server) *flight {
	f := s.own(c)
	if f != nil && c.Token.Present() {
		f.token = bytes.Clone(c.Bytes(c.Token))
		f.narrate(servers...)
	}
	return f
}

// refuse answers a call, of what is named by target, with an error.
func (s *Session) refuse(c *call, target string, err error) {
	if f := s.take(c); f != nil {
		f.record.target(target)
		f.fail(err)
	}
}

// forward sends the client's request to a server with the given edits, which
// need live only during the call. target is what it asks for, by the server's own
// name.
func (s *Session) forward(c *call, srv *toolbox.Server, target string, edits ...wire.Edit) {
	if f := s.take(c); f != nil {
		f.send(c, srv, target, edits...)
	}
}

// cfg is the configuration that the session works by.
func (s *Session) cfg() *config.Config { return s.shelf.View().Cfg }

// available says which toolboxes there are for the user of the session.
func (s *Session) available(name string) string { return s.shelf.View().Available(name) }

// isMeta reports whether a name is one that a tool of workbench's own answers to, of those that the client has.
func (s *Session) isMeta(name string) bool { return s.shelf.View().HasMeta(name) }

// locate finds the server that a uri leads to and the uri it knows it by.
func (s *Session) locate(uri string) (srv *toolbox.Server, own string, err error) {
	return s.shelf.Routes().Locate(uri, s.shelf.Servers())
}
