package toolbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/catalogue"
	"github.com/mcp-workbench/workbench/internal/child"
	"github.com/mcp-workbench/workbench/toolbox/launch"
	"github.com/mcp-workbench/workbench/toolbox/offered"
)

// Recall fills the lists of the servers with what was last seen of them,
// whichever client that was for, and starts nothing. It is for toolboxes that are
// not opened; their catalogue is listed once for all of them.
func Recall(toolboxes ...*Toolbox) {
	seen := make(listings)
	for _, t := range toolboxes {
		if t.opts.Catalogue == nil {
			continue
		}
		list := seen.of(t.opts.Catalogue)
		t.eachServer(func(s *Server) {
			if s.Status().State == Stopped {
				s.recall(list.Newest(s.key().Server))
			}
		})
	}
}

// listings are one of each catalogue, for all servers that are asked for at one time.
type listings map[*catalogue.Catalogue]*catalogue.Listing

func (l listings) of(c *catalogue.Catalogue) *catalogue.Listing {
	if l[c] == nil {
		l[c] = c.List()
	}
	return l[c]
}

// RecallOwn fills the lists of the servers that are not started yet with what
// they last were for such a client as this, and starts nothing. Those in this
// process are there at once and need no past.
func (t *Toolbox) RecallOwn() {
	if t.opts.Catalogue == nil {
		return
	}
	t.eachServer(func(s *Server) {
		if s.cfg.Transport != config.TransportBuiltin && s.Status().State == Stopped {
			s.recall(t.opts.Catalogue.Get(s.key()))
		}
	})
}

func (t *Toolbox) eachServer(f func(*Server)) {
	var all sync.WaitGroup
	for _, s := range t.Servers() {
		all.Go(func() { f(s) })
	}
	all.Wait()
}

// recall takes over what was seen, if the server was not started meanwhile; nil is nothing. A start waits for it.
func (s *Server) recall(e *catalogue.Entry) {
	if e == nil {
		return
	}
	s.recalling.Lock()
	defer s.recalling.Unlock()
	if s.Status().State != Stopped {
		return
	}
	_, program := s.program()
	if e.Late || e.Program != program {
		s.at.recallLate(e.Late && e.Program == program)
		s.lists.Before(e.Lists)
		return
	}
	h := hello{Version: e.Version, Modern: mcp.IsModernProtocol(e.Version), Mute: e.Mute, Said: offered.Said{Info: e.Info, Instructions: e.Instructions}}
	if err := h.declare(e.Capabilities); err != nil {
		return // a server with such capabilities would not have become ready
	}
	for _, k := range offered.Kinds() {
		list := e.Lists[string(k)]
		s.lists.Store(k, offered.Reading{Items: offered.Kept(list, k, s.lists.Room(k)), Unread: h.offers(k) && list == nil})
	}
	s.legacy = e.Mute
	s.hello.Store(&h)
	s.at.noteSeen(e.Seen)
}

// known reports whether the server can be spoken of before it has started, and
// nothing speaks against that it starts. One of which a list was not read to its end is spoken of once that is.
func (s *Server) known() bool {
	at := s.at.now()
	return !s.lists.Unread() && !at.Seen.IsZero() && at.Cause == nil
}

// noteLate notes that the server was waited for in vain, for other runs too where
// nothing is known of it: one that hangs is to hold up an open once.
func (s *Server) noteLate() {
	first, c := s.at.noteLate(), s.box.opts.Catalogue
	if c == nil || !first {
		return
	}
	_, program := s.program()
	e := c.Get(s.key())
	switch {
	case e == nil:
		e = new(catalogue.Entry)
	case e.Program == program:
		return
	}
	e.Seen, e.Late, e.Program = time.Now(), true, program
	c.Put(s.key(), e)
}

// remember keeps what is known of the running server for other runs. While its
// tools were not read, or another list is being read, there is more to come.
func (s *Server) remember() {
	c := s.box.opts.Catalogue
	if c == nil {
		return
	}
	h, recalled := s.hello.Load(), !s.at.now().Seen.IsZero()
	if busy, _ := s.reading.busy(); busy || h == nil || recalled {
		return
	}
	_, program := s.program()
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
	for k, items := range s.lists.Known() {
		if k == Resources && s.cfg.Transport == config.TransportBuiltin {
			continue // Resources inside this process are one user's.
		}
		e.Lists[string(k)] = []json.RawMessage{}
		for _, it := range items {
			e.Lists[string(k)] = append(e.Lists[string(k)], it.Raw)
		}
	}
	if !repeats(s.hidden.Load(), e) {
		c.Put(s.key(), e)
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

// program returns the file that is started, and what tells it from another in its
// place; both are empty where there is none.
func (s *Server) program() (path, state string) {
	if s.cfg.Transport != config.TransportStdio {
		return "", ""
	}
	spec := child.Spec{Command: s.cfg.Command, Env: launch.Environment(s.cfg, s.box.opts.Environ), Dir: s.cfg.Cwd}
	path, err := spec.Path()
	if err != nil {
		return "", ""
	}
	if info, err := os.Stat(path); err == nil {
		state = fmt.Sprintf("%d bytes of %d", info.Size(), info.ModTime().UnixNano())
	}
	return path, state
}

// key names the server in the catalogue by all that decides what it offers,
// except the values of variables and headers, which are secrets, and the content
// of its program, which the entry names. What is added to the configuration of
// servers is a part of it without more ado.
func (s *Server) key() catalogue.Key {
	cfg := s.cfg
	start := cfg.StartedAs()
	start.Name, start.Disabled, start.Problem = "", false, nil
	start.Env, start.Headers, start.OAuth = nil, nil, cfg.OAuth.Public()
	id := struct {
		Start              config.Server
		Variables, Headers []string
		Program            string
	}{Start: start, Variables: slices.Sorted(maps.Keys(cfg.Env)), Headers: slices.Sorted(maps.Keys(cfg.Headers))}
	id.Program, _ = s.program()
	server, err := json.Marshal(id)
	if err != nil {
		panic("the identity of a server cannot be encoded: " + err.Error())
	}
	client := s.box.opts.Client
	era := []byte("legacy ")
	if mcp.IsModernProtocol(client.Version) {
		era = []byte("modern ")
	}
	return catalogue.Key{Server: catalogue.Digest(server), Client: catalogue.Digest(append(era, client.capabilities()...))}
}
