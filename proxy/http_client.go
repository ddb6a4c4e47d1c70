package proxy

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/logkey"
)

// client is who speaks to us over HTTP: in the legacy era the holder of one
// session id, in the modern era all who are one principal. A session belongs to it.
type client struct {
	*Session
	party party  // who alone finds the client
	id    string // what the legacy client shows; "" in the modern era
	// warm is the configuration of which the toolboxes were opened that are open
	// without being asked for.
	warm atomic.Pointer[view]

	streams *streams // nil in the modern era

	// Guarded by clients.mu.
	users int // requests being served
	used  time.Time
}

// openFirst opens the toolboxes that are open without being asked for, before
// the first request that may need one of them: unlike on stdio, nothing says
// that the client has listed the tools before, and waiting costs nobody else.
func (c *client) openFirst(ctx context.Context, method string) {
	now := c.view.Load()
	if c.warm.Load() == now {
		return
	}
	switch method {
	case "tools/call", "prompts/get", "resources/read", "resources/subscribe", "completion/complete", "subscriptions/listen":
		if len(c.marked()) > 0 {
			c.openMarked(ctx)
		}
		if ctx.Err() == nil {
			c.warm.Store(now)
		}
	}
}

// party is who may share a session: what it is served does not depend on with
// which of its tokens it comes.
type party struct {
	front *Proxy
	name  string // of the principal
	admin bool
}

// clients are all there are.
type clients struct {
	h *HTTP

	mu      sync.Mutex
	legacy  map[string]*client
	modern  map[party]*client
	people  map[string]*person // who have a client, by their names
	made    int                // in both, and those whose initialize is being answered
	closing bool
	ending  sync.WaitGroup // those that are being closed
}

func (cs *clients) make(h *HTTP) {
	cs.h, cs.legacy, cs.modern = h, make(map[string]*client), make(map[party]*client)
	cs.people = make(map[string]*person)
}

func (cs *clients) isClosing() bool {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return cs.closing
}

// person is somebody's share of the clients, with whichever of their tokens.
type person struct {
	made    int
	account *account.Account // of what is kept because of them
}

// most is how many of the sessions somebody may have who may not do everything,
// so that nobody takes those of all the others.
func (cs *clients) most() int { return max(1, cs.h.opts.MaxSessions/4) }

// admitLocked makes room for one more client of somebody.
func (cs *clients) admitLocked(v *visit) (*person, *refusal) {
	who := cs.people[v.Name]
	if who == nil {
		who = &person{account: account.New(account.User, nil)}
	}
	switch {
	case cs.closing:
		return nil, refuseClosing()
	case !v.Admin && who.made >= cs.most():
		no := refuse(http.StatusTooManyRequests, fmt.Sprintf("this user has %d sessions, and may have no more; end one, or try again later (workbench serve --max-sessions allows each user a quarter of all)", who.made))
		no.header = [2]string{"Retry-After", "30"}
		return nil, no
	case cs.made >= cs.h.opts.MaxSessions:
		no := refuse(http.StatusServiceUnavailable, "there are too many sessions; end one, or try again later (workbench serve --max-sessions allows more)")
		no.header = [2]string{"Retry-After", "30"}
		return nil, no
	}
	cs.made++
	who.made++
	cs.people[v.Name] = who
	return who, nil
}

// leaveLocked undoes admitLocked.
func (cs *clients) leaveLocked(name string) {
	cs.made--
	who := cs.people[name]
	if who.made--; who.made == 0 {
		delete(cs.people, name)
	}
}

func refuseClosing() *refusal {
	no := refuse(http.StatusServiceUnavailable, "workbench is shutting down")
	no.header = [2]string{"Retry-After", "5"}
	return no
}

// begin makes a client that wants to initialize; register or forget follows.
func (cs *clients) begin(v *visit) (*client, *refusal) {
	cs.mu.Lock()
	who, no := cs.admitLocked(v)
	cs.mu.Unlock()
	if no != nil {
		return nil, no
	}
	c := &client{party: v.party(), users: 1, streams: newStreams()}
	c.Session = v.front.connect(v.Principal, who.account, c.streams.standing.add)
	c.Session.line.far = c.streams.standing.behind
	return c, nil
}

// register gives the client a session id and lets it be found by that. It
// reports false if it is too late.
func (cs *clients) register(c *client) bool {
	c.id = rand.Text() // 130 bits
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if !cs.closing {
		cs.legacy[c.id] = c
	}
	return !cs.closing
}

// forget undoes begin.
func (cs *clients) forget(c *client) {
	cs.mu.Lock()
	cs.leaveLocked(c.party.name)
	cs.mu.Unlock()
	_ = c.Session.Close(gone()) // it has no servers
}

// find gives the legacy client whose session a request names; release follows.
// One that is not known, or of another endpoint or principal, is answered alike. starting
// says that the request begins something new.
func (cs *clients) find(r *http.Request, v *visit, starting bool) (*client, *refusal) {
	ids := r.Header[mcp.HeaderSessionID]
	if len(ids) != 1 {
		return nil, refuse(http.StatusBadRequest, "the header "+mcp.HeaderSessionID+" is missing or given more than once; a session begins with initialize")
	}
	if v := r.Header.Get(mcp.HeaderProtocolVersion); v != "" && !mcp.IsValidProtocolVersion(v) {
		return nil, &refusal{status: http.StatusBadRequest, error: *asWire(unsupportedVersion(v))}
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	c := cs.legacy[ids[0]]
	switch {
	case c == nil || c.party != v.party():
		return nil, refuse(http.StatusNotFound, "there is no such session; begin a new one with initialize")
	case cs.closing && starting:
		return nil, refuseClosing()
	}
	c.users++
	return c, nil
}

// share gives the client that all of one principal in the modern era are, making
// it if there is none; release follows.
func (cs *clients) share(v *visit) (*client, *refusal) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.closing {
		return nil, refuseClosing()
	}
	at := v.party()
	c := cs.modern[at]
	if c == nil {
		who, no := cs.admitLocked(v)
		if no != nil {
			return nil, no
		}
		// Nothing in this era belongs to no request.
		c = &client{party: at, Session: v.front.connect(v.Principal, who.account, func([]byte) {})}
		c.Session.many = true
		cs.modern[at] = c
	}
	c.users++
	return c, nil
}

func (cs *clients) release(c *client) {
	now := time.Now()
	cs.mu.Lock()
	defer cs.mu.Unlock()
	c.users--
	c.used = now
}

// take removes a client from the tables, so that its session can be ended; it
// reports whether it was there, and is not ended already.
func (cs *clients) take(c *client) bool {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return cs.takeLocked(c)
}

func (cs *clients) takeLocked(c *client) bool {
	switch {
	case cs.closing:
		return false
	case cs.legacy[c.id] == c:
		delete(cs.legacy, c.id)
	case cs.modern[c.party] == c:
		delete(cs.modern, c.party)
	default:
		return false
	}
	cs.leaveLocked(c.party.name)
	cs.ending.Add(1)
	return true
}

// close ends the session of a client that was taken.
func (cs *clients) close(ctx context.Context, c *client) {
	defer cs.ending.Done()
	err := c.Session.Close(ctx)
	missed := 0
	if c.streams != nil {
		missed = c.streams.end()
	}
	cs.h.log.Debug().AnErr(logkey.Err, err).Int(logkey.Dropped, missed).Msg("session closed")
}

// sweep ends the sessions that nobody has used for their time: no request of
// theirs is being served, no stream is open and no call is on its way.
func (cs *clients) sweep(now time.Time) {
	var idle []*client
	cs.mu.Lock()
	for _, c := range cs.legacy {
		if c.users == 0 && now.Sub(c.used) >= cs.h.opts.Idle && !c.Busy() {
			idle = append(idle, c)
		}
	}
	for _, c := range cs.modern {
		if c.users == 0 && now.Sub(c.used) >= cs.h.opts.ModernIdle && !c.Busy() {
			idle = append(idle, c)
		}
	}
	for _, c := range idle {
		cs.takeLocked(c)
	}
	cs.mu.Unlock()
	for _, c := range idle {
		go cs.close(gone(), c)
	}
}

// gone is the context of an end that waits for no answers.
func gone() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// shut ends all sessions, giving what is under way until ctx ends, and waits.
func (cs *clients) shut(ctx context.Context) {
	cs.mu.Lock()
	cs.closing = true
	var all []*client
	for _, c := range cs.legacy {
		all = append(all, c)
	}
	for _, c := range cs.modern {
		all = append(all, c)
	}
	cs.mu.Unlock()
	for _, c := range all {
		// It stays in the table until its calls are answered, so that the
		// client can answer what servers ask meanwhile.
		cs.ending.Go(func() {
			err := c.Session.Close(ctx)
			if c.streams != nil {
				c.streams.end()
			}
			if err != nil {
				cs.h.log.Warn().AnErr(logkey.Err, err).Msg("session closed")
			}
		})
	}
	cs.ending.Wait()
}
