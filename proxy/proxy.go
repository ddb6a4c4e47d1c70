package proxy

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/alike"
	"github.com/mcp-workbench/workbench/internal/approval"
	"github.com/mcp-workbench/workbench/internal/calls"
	"github.com/mcp-workbench/workbench/internal/find"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/trail"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/meta"
	"github.com/mcp-workbench/workbench/toolbox"
)

// Proxy is the front of one configuration.
type Proxy struct {
	opts    Options
	seal    *sealer
	root    *Proxy               // whose sessions these are: itself, or that which it serves a part of
	only    []string             // the toolboxes that it serves; nil means all
	view    atomic.Pointer[view] // what it serves
	buffers wire.Buffers

	// The rest is the root's. life is that of the shared servers, which is longer than any request.
	life      context.Context
	quit      context.CancelFunc
	work      sync.WaitGroup // shared servers that are leaving
	tallies   tallies
	indexes   find.Shared   // that sessions search
	connected atomic.Uint64 // sessions so far

	reloading sync.Mutex // held by Reload

	mu       sync.Mutex
	sessions map[*Session]*Proxy // with the front of each
	fronts   map[string]*Proxy   // that serve a part, by what that is
}

// New makes the front; it starts nothing. It fails if opts.Direct names no toolbox.
func New(cfg *config.Config, opts Options) (*Proxy, error) {
	if _, ok := cfg.Toolbox(opts.Direct); !ok && opts.Direct != "" {
		return nil, fmt.Errorf("there is no toolbox %q; %s", opts.Direct, meta.Available(cfg, opts.Direct))
	}
	p := newProxy(opts)
	p.root = p
	p.life, p.quit = context.WithCancel(context.Background())
	p.tallies.epoch = time.Now()
	p.opts.Toolbox.Texts = new(alike.Pool)
	p.opts.Toolbox.Event = func(e toolbox.Event) {
		p.tallies.note(e)
		if opts.Toolbox.Event != nil {
			opts.Toolbox.Event(e)
		}
	}
	if opts.Trail != nil {
		p.opts.Toolbox.Login = func(box, server string, err error) {
			e := trail.Event{Event: trail.Login, Toolbox: box, Server: server, Outcome: "renewed"}
			if err != nil {
				e.Outcome, e.Err = "refused", err.Error()
			}
			opts.Trail(e)
		}
	}
	p.sessions, p.fronts = make(map[*Session]*Proxy), make(map[string]*Proxy)
	commons, _ := p.commonsFor(cfg, nil)
	p.view.Store(p.newView(cfg, commons))
	return p, nil
}

func newProxy(opts Options) *Proxy {
	if opts.Approvals == nil {
		opts.Approvals = approval.New("")
	}
	return &Proxy{opts: opts, seal: newSealer()}
}

// Connect makes the session of one client.
func (p *Proxy) Connect(send func(msg []byte)) wire.Session {
	return p.NewSession(Client{Principal: principal.Principal{Name: principal.Default}, Send: send})
}

// Client is whom a session is for.
type Client struct {
	principal.Principal
	// Account is charged for all clients that are theirs; nil means that there is one client alone.
	Account *account.Account
	// Many says that several programs may be the client: what a server says goes to none of them if it may be
	// another's.
	Many bool
	// Send takes what belongs to no request.
	Send func(msg []byte)
	// Behind reports whether the client has much of that still to read. nil means that it never has.
	Behind func() bool
	// Unread is the account of what the client has not read; the servers that are its own are read as it allows. nil
	// means that they do not wait.
	Unread *account.Account
	// Pace is asked before each call that a script of the client makes; an error refuses it. nil means that none is.
	// The client's own requests are bounded by whoever takes them.
	Pace func() error
}

// NewSession makes the session of a client, which whoever makes it closes.
func (p *Proxy) NewSession(c Client) *Session {
	p.root.mu.Lock() // so that it begins with what a reload is to change, or with what it has changed
	defer p.root.mu.Unlock()
	s := newSession(p, &c)
	p.root.sessions[s] = p
	return s
}

// Calls is the record of what clients have asked for; nil if nothing is recorded.
func (p *Proxy) Calls() *calls.Log { return p.root.opts.Calls }

// direct reports whether the session lists its tools without the meta tools.
func (p *Proxy) direct() bool { return p.opts.Direct != "" }

var _ wire.Endpoint = (*Proxy)(nil)
