package shelf

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/proxy/naming"
	"github.com/mcp-workbench/workbench/toolbox"
)

// ErrClosed says that a toolbox is asked for after the end.
var ErrClosed = errors.New("the session is closed")

// Options are what a shelf needs of whose it is.
type Options struct {
	New    func(config.Toolbox) *toolbox.Toolbox // makes the client's own part of a toolbox
	Legacy func() bool                           // the client hears of changed lists without asking for it
	// Changed is called after the routes were made anew, with the notifications that tell a legacy client which lists
	// are other than before.
	Changed func(methods []string)
	Begin   func(func(ctx context.Context))                  // has work done that nobody waits for
	Retire  func(ctx context.Context, gone *toolbox.Toolbox) // ends a toolbox that is no longer in the configuration
}

// Shelf is the toolboxes of one client.
type Shelf struct {
	opts   Options
	view   atomic.Pointer[View]   // what it was last told to serve; changed under mu
	routes atomic.Pointer[Routes] // made under mu
	claims *naming.Claims

	mu      sync.Mutex
	closed  bool
	boxes   map[string]*Box
	spaces  *naming.Spaces // of all configurations that there were
	skills  skills
	told    announced // that a legacy client knows or was told to read
	opening openings
	listed  chan struct{} // closed and replaced when the client has read its tools
}

// New makes the shelf of a client that has opened nothing yet.
func New(v *View, opts Options) *Shelf {
	sh := &Shelf{
		opts: opts, claims: naming.NewClaims(), spaces: v.Spaces,
		boxes: make(map[string]*Box), skills: make(skills), listed: make(chan struct{}),
	}
	sh.opening.lists = make(map[toolbox.Kind]int)
	sh.view.Store(v)
	sh.buildLocked()
	sh.told = announced(maps.Clone(sh.Routes().Changing))
	return sh
}

// View is what the shelf was last told to serve.
func (sh *Shelf) View() *View { return sh.view.Load() }

// Routes are what the client sees now.
func (sh *Shelf) Routes() *Routes { return sh.routes.Load() }

// Shut has no other toolbox made and no other view taken. It comes before the end of what Options.Begin begins: a
// toolbox that a reload takes out later would be ended by nobody. Close follows.
func (sh *Shelf) Shut() {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.closed = true
}

// Close ends the toolboxes of a shelf that is shut.
func (sh *Shelf) Close() error {
	sh.mu.Lock()
	boxes := slices.Collect(maps.Values(sh.boxes))
	sh.mu.Unlock()
	errs := make([]error, len(boxes))
	var wg sync.WaitGroup
	for i, b := range boxes {
		wg.Go(func() { errs[i] = b.Close() })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Forget credits what is kept of servers. It follows Close when nothing is under way any more.
func (sh *Shelf) Forget() {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.skills.close()
}

// Opened returns the toolboxes that were opened, in the order of the configuration.
func (sh *Shelf) Opened() []*Box {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return opened(sh.View().boxes(sh.boxes))
}

// Made returns all toolboxes that there are, opened or not.
func (sh *Shelf) Made() []*Box {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return sh.View().boxes(sh.boxes)
}

// Servers are those of the opened toolboxes.
func (sh *Shelf) Servers() (all []*toolbox.Server) {
	for _, b := range sh.Opened() {
		all = append(all, b.Servers()...)
	}
	return all
}

// Find returns the toolbox of a name if there is one already, else nil.
func (sh *Shelf) Find(name string) *Box {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return sh.boxes[name]
}

// Box returns the toolbox of a name, making it if there is none.
func (sh *Shelf) Box(name string) (*Box, error) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	v := sh.View()
	cfg, ok := v.Cfg.Toolbox(name)
	switch {
	case !ok || v.Direct != "" && name != v.Direct:
		return nil, v.NoToolbox(name)
	case sh.closed:
		return nil, ErrClosed
	}
	b := sh.boxes[name]
	if b == nil {
		b = NewBox(v, cfg, sh.opts.New)
		sh.boxes[name] = b
	}
	return b, nil
}

// Named returns the server that a full name is about, and its toolbox, opened or not; nil for a name of another form, or
// of what the client may not use.
func (sh *Shelf) Named(name string) (*Box, *toolbox.Server) {
	of, ok := sh.Routes().spaces.Whose(name)
	if !ok {
		return nil, nil
	}
	b, err := sh.Box(of.Toolbox)
	if err != nil {
		return nil, nil
	}
	if srv, ok := b.Server(of.Server); ok {
		return b, srv
	}
	return nil, nil
}

// Absent returns the server of a toolbox whose exposed names begin as a name does and whose tools are not known because
// it is not ready; nil if there is none.
func (sh *Shelf) Absent(name string) *toolbox.Server {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	of, ok := sh.Routes().spaces.Exposes(name)
	if !ok || sh.boxes[of.Toolbox] == nil {
		return nil
	}
	if srv, ok := sh.boxes[of.Toolbox].Server(of.Server); ok {
		if st := srv.Status(); st.State != toolbox.Ready && st.Tools == 0 {
			return srv
		}
	}
	return nil
}

// Unread returns the servers that may have what a name stands for that begins with no server's: those of open toolboxes
// whose names are left as they are, and whose tools are not known because they are not ready.
func Unread(sh *Shelf, name string) (all []*toolbox.Server) {
	if _, derived := sh.Routes().spaces.Exposes(name); derived {
		return nil
	}
	for _, srv := range sh.Servers() {
		if st := srv.Status(); st.State != toolbox.Ready && st.Tools == 0 && sh.View().plain(srv) {
			all = append(all, srv)
		}
	}
	return all
}

// Reload has the shelf work by another view.
func (sh *Shelf) Reload(v *View) {
	settled := make(chan struct{})
	defer close(settled)
	sh.mu.Lock()
	if sh.closed {
		sh.mu.Unlock()
		return
	}
	sh.view.Store(v)
	sh.spaces = v.Spaces.With(sh.spaces)
	sh.opening.under++ // what changes is told at the end, together
	var staying []*Box
	for name, b := range sh.boxes {
		if _, ok := v.Cfg.Toolbox(name); ok {
			b.pinned = false // others may be
			staying = append(staying, b)
			continue
		}
		delete(sh.boxes, name)
		sh.opts.Begin(func(ctx context.Context) {
			<-settled // until then the routes lead there
			sh.opts.Retire(ctx, b.Toolbox)
		})
	}
	sh.mu.Unlock()

	var gone []func()
	for _, b := range staying {
		gone = append(gone, b.become(v)...)
	}
	sh.update(func() bool {
		sh.opening.under--
		return sh.opening.due()
	})
	for _, retire := range gone {
		retire()
	}
}
