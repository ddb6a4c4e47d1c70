package proxy

import (
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/habits"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// Name is how workbench calls itself to clients.
const Name = "mcp-workbench"

// Options are what the front needs besides the configuration.
type Options struct {
	// Version is told to clients.
	Version string
	// Direct names the one toolbox to serve, whose tools are then listed as
	// if its servers were connected directly; "" serves all behind the meta
	// tools.
	Direct string
	// Toolbox is what toolboxes are made with; Client and Peer are set for
	// each session.
	Toolbox toolbox.Options
	// Clients remembers from one session to the next how clients take changed
	// lists; nil means that each session finds out for itself.
	Clients *habits.Memory
	// Logger takes what goes wrong in the front itself. The zero value is
	// silent.
	Logger zerolog.Logger
	// Tracer gets a span for each request that goes to a server, which then is
	// told to go on below it. nil means that there are no traces, and that
	// servers get what clients say of theirs.
	Tracer trace.Tracer
}

// Proxy is the front of one configuration.
type Proxy struct {
	cfg     *config.Config
	opts    Options
	control *control
	seal    *sealer
	meta    []metaTool
	commons map[string]*toolbox.Toolbox // the servers that sessions share, by toolbox
	root    *Proxy                      // whose sessions these are: itself, or that which it serves a toolbox of
	bufs    sync.Pool                   // of *[]byte

	mu       sync.Mutex
	sessions map[*session]struct{} // of the root

	tallies tallies // of the root
}

// New makes the front; it starts nothing. It fails if opts.Direct names no
// toolbox.
func New(cfg *config.Config, opts Options) (*Proxy, error) {
	p, err := newProxy(cfg, opts)
	if err != nil {
		return nil, err
	}
	p.root = p
	p.tallies.epoch = time.Now()
	p.opts.Toolbox.Event = func(e toolbox.Event) {
		p.tallies.note(e)
		if opts.Toolbox.Event != nil {
			opts.Toolbox.Event(e)
		}
	}
	p.sessions = make(map[*session]struct{})
	p.commons = newCommons(p)
	return p, nil
}

// serving makes a front that serves one toolbox directly, with the shared
// servers of p.
func (p *Proxy) serving(name string) (*Proxy, error) {
	opts := p.opts
	opts.Direct = name
	q, err := newProxy(p.cfg, opts)
	if err != nil {
		return nil, err
	}
	q.root, q.commons = p, p.commons
	return q, nil
}

func newProxy(cfg *config.Config, opts Options) (*Proxy, error) {
	p := &Proxy{cfg: cfg, opts: opts, seal: newSealer()}
	p.bufs.New = func() any { b := make([]byte, 0, 4096); return &b }
	text := Instructions(cfg)
	if opts.Direct != "" {
		box, ok := cfg.Toolbox(opts.Direct)
		if !ok {
			return nil, fmt.Errorf("there is no toolbox %q; %s", opts.Direct, available(cfg, opts.Direct))
		}
		text = directInstructions(box)
	} else {
		p.meta = metaTools(cfg)
	}
	p.control = newControl(opts.Version, text)
	return p, nil
}

// Connect makes the session of one client.
func (p *Proxy) Connect(send func(msg []byte)) wire.Session {
	return p.connect(principal.Principal{Name: principal.Default}, send)
}

// connect makes the session of a client for somebody.
func (p *Proxy) connect(who principal.Principal, send func(msg []byte)) *session {
	s := newSession(p, who, send)
	p.root.mu.Lock()
	defer p.root.mu.Unlock()
	p.root.sessions[s] = struct{}{}
	return s
}

// direct reports whether the session lists its tools without the meta tools.
func (p *Proxy) direct() bool { return p.opts.Direct != "" }

func (p *Proxy) buffer() *[]byte { return p.bufs.Get().(*[]byte) }

// maxPooled is the largest buffer kept for reuse.
const maxPooled = 1 << 20

func (p *Proxy) release(b *[]byte) {
	if cap(*b) <= maxPooled {
		*b = (*b)[:0]
		p.bufs.Put(b)
	}
}

var _ wire.Endpoint = (*Proxy)(nil)
