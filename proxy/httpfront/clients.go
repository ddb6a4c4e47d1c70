package httpfront

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-workbench/workbench/internal/pause"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/proxy"
)

// client is who speaks to us over HTTP: in the legacy era the holder of one session id, in the modern era all who are
// one principal. A session belongs to it.
type client struct {
	*proxy.Session
	party   party    // who alone finds the client
	id      string   // what the legacy client shows; "" in the modern era
	streams *streams // nil in the modern era
	debt    *debt

	// Guarded by clients.mu.
	users int // requests being served
	used  time.Time
	idle  bool // the last sweep found that it is
}

// visit is a caller at an endpoint.
type visit struct {
	caller
	front   *proxy.Proxy
	address string // of the client
}

// party is who may share a session: what it is served does not depend on with which of its tokens it comes.
type party struct {
	front *proxy.Proxy
	name  string // of the principal
	admin bool
}

func (v *visit) party() party { return party{v.front, v.Name, v.Admin} }

// clients are all there are.
type clients struct {
	max              int           // at a time
	idle, modernIdle time.Duration // until one that nobody uses ends
	mostKept         int           // because of a user, in bytes
	mostUnread       int           // of one client, in bytes, before its servers wait
	pace             *pace

	mu      sync.Mutex
	legacy  map[string]*client
	modern  map[party]*client
	people  map[string]*person // who have a client, or had one of which something is left, by their names
	made    int                // in both, and those whose initialize is being answered
	closing bool
	ending  sync.WaitGroup // those that are being closed
}

func newClients(o *Options, p *pace) *clients {
	return &clients{
		max: o.MaxSessions, idle: o.Idle, modernIdle: o.ModernIdle, mostKept: account.User, mostUnread: account.Unread, pace: p,
		legacy: make(map[string]*client), modern: make(map[party]*client), people: make(map[string]*person),
	}
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

// most is how many of the sessions somebody may have who may not do everything, so that nobody takes those of all the
// others.
func (cs *clients) most() int { return max(1, cs.max/4) }

// admitLocked makes room for one more client of somebody.
func (cs *clients) admitLocked(v *visit) (*person, *refusal) {
	who := cs.people[v.Name]
	if who == nil {
		who = &person{account: account.New(cs.mostKept, nil)}
	}
	switch {
	case cs.closing:
		return nil, refuseClosing()
	case !v.Admin && who.made >= cs.most():
		return nil, refuse(http.StatusTooManyRequests, fmt.Sprintf("this user has %d sessions, and may have no more; end one, or try again later (workbench serve --max-sessions allows each user a quarter of all)", who.made)).later("30")
	case cs.made >= cs.max:
		return nil, refuse(http.StatusServiceUnavailable, "there are too many sessions; end one, or try again later (workbench serve --max-sessions allows more)").later("30")
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
	who.made--
	cs.forgetLocked(name, who)
}

// forgetLocked forgets somebody who has no client, once nothing is kept because of them: what their last clients have
// not read counts for the next ones.
func (cs *clients) forgetLocked(name string, who *person) {
	if who.made == 0 && who.account.Kept() == 0 {
		delete(cs.people, name)
	}
}

// debtOf makes the debt of a client of somebody; programs is how many may share it.
func (cs *clients) debtOf(who *person, programs int) *debt {
	return &debt{client: account.New(programs*cs.mostUnread, nil), user: who.account}
}

// begin makes a client that wants to initialize; register or forget follows.
func (cs *clients) begin(v *visit) (*client, *refusal) {
	cs.mu.Lock()
	who, no := cs.admitLocked(v)
	cs.mu.Unlock()
	if no != nil {
		return nil, no
	}
	debt := cs.debtOf(who, 1)
	streams := newStreams(debt)
	session := v.front.NewSession(proxy.Client{Principal: v.Principal, Account: who.account, Unread: debt.client, Send: streams.standing.add, Behind: streams.standing.behind, Pace: cs.pace.of(v.Name)})
	return &client{Session: session, party: v.party(), users: 1, streams: streams, debt: debt}, nil
}

// register gives the client a session id and lets it be found by that. It reports false if it is too late.
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
	_ = c.Close(gone()) // it has no servers
}

// find gives the legacy client whose session a request names; release follows. One that is not known, or of another
// endpoint or principal, is answered alike. starting says that the request begins something new.
func (cs *clients) find(r *http.Request, v *visit, starting bool) (*client, *refusal) {
	ids := r.Header[mcp.HeaderSessionID]
	if len(ids) != 1 {
		return nil, refuse(http.StatusBadRequest, "the header "+mcp.HeaderSessionID+" is missing or given more than once; a session begins with initialize")
	}
	if v := r.Header.Get(mcp.HeaderProtocolVersion); v != "" && !eras.IsSpoken(v) {
		return nil, refuseMessage(eras.Unsupported(v))
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

// share gives the client that all of one principal in the modern era are, making it if there is none; release follows.
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
		debt := cs.debtOf(who, sharing)
		c = &client{party: at, debt: debt, Session: v.front.NewSession(proxy.Client{Principal: v.Principal, Account: who.account, Unread: debt.client, Many: true, Send: func([]byte) {}, Pace: cs.pace.of(v.Name)})}
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

// take removes a client from the tables, so that its session can be ended; it reports whether it was there, and is not
// ended already.
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
	err := c.Close(ctx)
	missed := 0
	if c.streams != nil {
		missed = c.streams.end()
	}
	log := c.Logger()
	log.Debug().AnErr(logkey.Err, err).Int(logkey.Dropped, missed).Msg("session closed")
}

// sweepPeriod is how often is looked for sessions that nobody uses, at most.
const sweepPeriod = time.Minute

// keepSwept sweeps until ctx ends.
func (cs *clients) keepSwept(ctx context.Context) {
	for pause.For(ctx, min(sweepPeriod, cs.idle/2, cs.modernIdle/2)) == nil { // after the last sweep, however late that was
		cs.sweep(time.Now())
	}
}

// sweep ends the sessions that nobody has used for their time, as the sweep before found too: no request of theirs is
// being served, no stream is open and no call is on its way. One sweep is not enough, for a program that was stopped
// meanwhile has heard nobody.
func (cs *clients) sweep(now time.Time) {
	var idle []*client
	cs.mu.Lock()
	find := func(c *client, after time.Duration) {
		before := c.idle
		c.idle = c.users == 0 && now.Sub(c.used) >= after && !c.Busy()
		if c.idle && before {
			idle = append(idle, c)
		}
	}
	for _, c := range cs.legacy {
		find(c, cs.idle)
	}
	for _, c := range cs.modern {
		find(c, cs.modernIdle)
	}
	for _, c := range idle {
		cs.takeLocked(c)
	}
	for name, who := range cs.people {
		cs.forgetLocked(name, who)
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
	all := slices.AppendSeq(slices.Collect(maps.Values(cs.legacy)), maps.Values(cs.modern))
	cs.mu.Unlock()
	for _, c := range all {
		// It stays in the table until its calls are answered, so that the client can answer what servers ask meanwhile.
		cs.ending.Go(func() {
			err := c.Close(ctx)
			if c.streams != nil {
				c.streams.end()
			}
			if err != nil {
				log := c.Logger()
				log.Warn().AnErr(logkey.Err, err).Msg("session closed")
			}
		})
	}
	cs.ending.Wait()
}
