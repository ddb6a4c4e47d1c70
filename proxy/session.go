package proxy

import (
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/incoming"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/results"
	"github.com/mcp-workbench/workbench/proxy/shelf"
)

// Session is one client and what was opened for it. It holds its parts together, each of which has its own lock.
type Session struct {
	opts    *Options             // of its front
	view    atomic.Pointer[view] // what it was last told to serve; control is read from it
	warm    atomic.Pointer[view] // the one of which Prepare has opened what is open without being asked for
	who     principal.Principal
	account *account.Account // of what is kept because of the client
	since   time.Time
	log     zerolog.Logger // says which session it is
	number  string         // tells it from the other sessions of the process

	// Receive's, which takes one message at a time.
	msg      incoming.Request
	received call

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

	desk         *desk
	taskDesk     *taskDesk
	approvals    *approvals
	considering  *considering
	resourceDesk *resourceDesk
	caller       *caller
	opener       *opener
	scripts      *scripts
	finder       *finder

	// leaving is closed by leave when nothing more comes from the client, while what it asked for is still answered.
	leaving chan struct{}
	leave   func()
	left    func() // takes the session out of those of its front

	results *results.Shelf // large results
}

// Busy reports whether a request is under way or waits for its client.
func (s *Session) Busy() bool { return s.requests.count() > 0 || len(s.states.all()) > 0 }

// Ended reports whether the session is closed.
func (s *Session) Ended() bool { return s.work.ended() }

// Revision is the one agreed on at initialize, "" before that.
func (s *Session) Revision() string {
	if now := s.profile.known(); now.era.HasHandshake() {
		return now.client.Version
	}
	return ""
}

// Abandon gives up a request whose client is gone, if it is under way.
func (s *Session) Abandon(scope uint64, id []byte) { s.requests.abandon(keyOf(scope, id)) }
