package toolbox

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/catalogue"
	"github.com/mcp-workbench/workbench/internal/child"
	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/toolbox/launch"
	"github.com/mcp-workbench/workbench/toolbox/offered"
	"github.com/mcp-workbench/workbench/toolbox/rpc"
)

// memory is what other runs know of a server, by way of the catalogue, and what they are to know.
type memory struct {
	catalogue *catalogue.Catalogue // nil if there is none
	cfg       config.Server
	environ   []string
	client    Client

	at      *standing
	said    *introduction
	lists   *offered.Lists
	reading *reading
	hidden  *atomic.Pointer[launch.Hiding]

	owed      atomic.Bool // what is known was not kept, since more was to come
	recalling sync.Mutex  // held while what was seen of the server is taken over
	keeping   sync.Mutex  // held from what is known to where it is kept, so that nothing older is kept in its place
	mute      bool        // the server ended on server/discover or left it unanswered, in another run
}

// recall takes over what was seen, if the server was not started meanwhile; nil is nothing. A start waits for it.
func (m *memory) recall(e *catalogue.Entry) {
	if e == nil {
		return
	}
	m.recalling.Lock()
	defer m.recalling.Unlock()
	if m.at.now().State != Stopped {
		return
	}
	_, program := program(&m.cfg, m.environ)
	if e.Late || e.Program != program {
		m.at.recallLate(e.Late && e.Program == program)
		m.lists.Before(e.Lists)
		return
	}
	h := rpc.Hello{Version: e.Version, Era: eras.Of(e.Version), Mute: e.Mute, Info: e.Info, Instructions: e.Instructions}
	if err := h.Declare(e.Capabilities); err != nil {
		return // a server with such capabilities would not have become ready
	}
	for _, k := range offered.Kinds() {
		list := e.Lists[string(k)]
		m.lists.Store(k, offered.Reading{Items: offered.Kept(list, k, m.lists.Room(k)), Unread: offers(&h, k) && list == nil})
	}
	m.mute = e.Mute
	m.said.hello.Store(&h)
	m.at.noteSeen(e.Seen)
}

// known reports whether the server can be spoken of before it has started, and nothing speaks against that it starts.
// One of which a list was not read to its end is spoken of once that is.
func (m *memory) known() bool {
	at := m.at.now()
	return m.lists.Unread(offered.Kinds()...) == nil && !at.Seen.IsZero() && at.Cause == nil
}

// noteLate notes that the server was waited for in vain, for other runs too where nothing is known of it: one that
// hangs is to hold up an open once.
func (m *memory) noteLate() {
	first, c := m.at.noteLate(), m.catalogue
	if c == nil || !first {
		return
	}
	m.keeping.Lock()
	defer m.keeping.Unlock()
	_, program := program(&m.cfg, m.environ)
	e := c.Get(m.key())
	switch {
	case e == nil:
		e = new(catalogue.Entry)
	case e.Program == program:
		return
	}
	e.Seen, e.Late, e.Program = time.Now(), true, program
	c.Put(m.key(), e)
}

// remember keeps what is known of the running server for other runs. While a list is being read there is more to come.
func (m *memory) remember() {
	busy, _ := m.reading.busy()
	if m.owed.Store(busy); !busy {
		m.keep(false)
	}
}

// settle keeps what is known of a server that ends before all of its lists were read. A list that was not is as it was
// when the server was last seen.
func (m *memory) settle() {
	if m.owed.Swap(false) {
		m.keep(true)
	}
}

// keep puts what is known into the catalogue, once the tools were read: where it is a part only, with what there was of
// the other lists.
func (m *memory) keep(part bool) {
	c := m.catalogue
	if c == nil {
		return
	}
	m.keeping.Lock()
	defer m.keeping.Unlock()
	h, recalled := m.said.hello.Load(), !m.at.now().Seen.IsZero()
	if h.Version == "" || recalled {
		return
	}
	_, program := program(&m.cfg, m.environ)
	e := &catalogue.Entry{
		Seen:         time.Now(),
		Program:      program,
		Version:      h.Version,
		Mute:         h.Mute,
		Capabilities: h.RawCapabilities,
		Info:         h.Info,
		Instructions: h.Instructions,
		Lists:        make(map[string][]json.RawMessage),
	}
	for k, items := range m.lists.Known() {
		if k == Resources && m.cfg.Transport == config.TransportBuiltin {
			continue // Resources inside this process are one user's.
		}
		e.Lists[string(k)] = []json.RawMessage{}
		for _, it := range items {
			e.Lists[string(k)] = append(e.Lists[string(k)], it.Raw)
		}
	}
	var last *catalogue.Entry
	if part {
		last = c.Get(m.key())
	}
	if last != nil && !last.Late && last.Program == program {
		for k, items := range last.Lists {
			if _, known := e.Lists[k]; !known && offers(h, Kind(k)) {
				e.Lists[k] = items
			}
		}
	}
	if !repeats(m.hidden.Load(), e) {
		c.Put(m.key(), e)
	}
}

// repeats reports whether what is to be kept has a secret in it. A server that repeats its secrets is not remembered.
func repeats(hidden *launch.Hiding, e *catalogue.Entry) bool {
	has := func(raw json.RawMessage) bool { return !bytes.Equal(hidden.JSON(raw), raw) }
	for _, list := range e.Lists {
		if slices.ContainsFunc(list, has) {
			return true
		}
	}
	return has(e.Info) || has(e.Instructions) || has(e.Capabilities)
}

// program returns the file that is started, and what tells it from another in its place; both are empty where there is
// none, or it may keep us waiting.
func program(cfg *config.Server, environ []string) (path, state string) {
	if cfg.Transport != config.TransportStdio {
		return "", ""
	}
	spec := child.Spec{Command: cfg.Command, Env: launch.Environment(*cfg, environ), Dir: cfg.Cwd}
	if spec.Distant() {
		return "", ""
	}
	path, err := spec.Path()
	if err != nil {
		return "", ""
	}
	if info, err := os.Stat(path); err == nil {
		state = fmt.Sprintf("%d bytes of %d", info.Size(), info.ModTime().UnixNano())
	}
	return path, state
}

// key names the server in the catalogue by all that decides what it offers, except the values of variables and headers,
// which are secrets, and the content of its program, which the entry names. What is added to the configuration of
// servers is a part of it without more ado.
func (m *memory) key() catalogue.Key { return keyOf(&m.cfg, m.environ, m.client) }

func keyOf(cfg *config.Server, environ []string, client Client) catalogue.Key {
	start := cfg.StartedAs()
	start.Name, start.Disabled, start.Problem = "", false, nil
	start.Env, start.Headers, start.OAuth = nil, nil, cfg.OAuth.Public()
	id := struct {
		Start              config.Server
		Variables, Headers []string
		Program            string
	}{Start: start, Variables: slices.Sorted(maps.Keys(cfg.Env)), Headers: slices.Sorted(maps.Keys(cfg.Headers))}
	id.Program, _ = program(cfg, environ)
	server, err := json.Marshal(id)
	if err != nil {
		panic("the identity of a server cannot be encoded: " + err.Error())
	}
	era := []byte(eras.Of(cmp.Or(client.Version, mcp.LATEST_LEGACY_PROTOCOL_VERSION)).String() + " ")
	return catalogue.Key{Server: catalogue.Digest(server), Client: catalogue.Digest(append(era, client.CapabilitiesObject()...))}
}
