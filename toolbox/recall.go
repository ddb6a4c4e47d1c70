package toolbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/catalogue"
	"github.com/mcp-workbench/workbench/internal/child"
	"github.com/mcp-workbench/workbench/internal/foreign"
)

// Recall fills the lists of the servers with what was last seen of them,
// whichever client that was for, and starts nothing. It is for a toolbox that is
// not opened.
func (t *Toolbox) Recall() {
	t.eachServer(func(s *Server) {
		if t.opts.Catalogue != nil && s.Status().State == Stopped {
			s.recall(t.opts.Catalogue.Newest(s.key().Server))
		}
	})
}

// recall fills the lists of the servers that are about to be started. Those in
// this process are there at once and need no past.
func (t *Toolbox) recall() {
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

// recall takes over what was seen; nil is nothing. The server was not started.
func (s *Server) recall(e *catalogue.Entry) {
	if e == nil {
		return
	}
	if e.Late {
		s.mu.Lock()
		s.late = true
		s.mu.Unlock()
		return
	}
	h := hello{Version: e.Version, Modern: mcp.IsModernProtocol(e.Version), Mute: e.Mute, Instructions: e.Instructions}
	if err := h.declare(e.Capabilities); err != nil {
		return // a server with such capabilities would not have become ready
	}
	for _, k := range []Kind{Tools, Resources, Templates, Prompts} {
		_, key := k.method()
		var items []Item
		room := s.room(k)
		for _, raw := range e.Lists[string(k)] {
			if it, ok := newItem(s, raw, key); ok && it.size() <= room {
				items = append(items, it)
				room -= it.size()
			}
		}
		s.store(k, items, 0, nil)
	}
	s.legacy = e.Mute
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hello, s.status.Seen = &h, e.Seen
}

// known reports whether the server can be spoken of before it has started, and
// nothing speaks against that it starts.
func (s *Server) known() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.status.Seen.IsZero() && s.status.Cause == nil
}

func (s *Server) isLate() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.late
}

// noteLate notes that the server was waited for in vain, for other runs too where
// nothing is known of it: one that hangs is to hold up an open once.
func (s *Server) noteLate() {
	s.mu.Lock()
	first := s.status.State == Starting && !s.late
	s.late = s.late || first
	s.mu.Unlock()
	if c := s.box.opts.Catalogue; c != nil && first && c.Get(s.key()) == nil {
		c.Put(s.key(), &catalogue.Entry{Seen: time.Now(), Late: true})
	}
}

// remember keeps what is known of the running server for other runs. While its
// tools were not read, or another list is being read, there is more to come.
func (s *Server) remember() {
	c := s.box.opts.Catalogue
	if c == nil {
		return
	}
	s.mu.Lock()
	busy := s.hello == nil || !s.status.Seen.IsZero()
	for _, r := range s.readers {
		busy = busy || r.reading
	}
	if busy {
		s.mu.Unlock()
		return
	}
	e := &catalogue.Entry{
		Seen:         time.Now(),
		Version:      s.hello.Version,
		Mute:         s.hello.Mute,
		Capabilities: s.hello.RawCapabilities,
		Instructions: s.hello.Instructions,
		Lists:        make(map[string][]json.RawMessage),
	}
	for k, items := range s.lists {
		if k == Tools {
			items = s.unfiltered
		}
		for _, it := range items {
			e.Lists[string(k)] = append(e.Lists[string(k)], it.Raw)
		}
	}
	s.mu.Unlock()
	c.Put(s.key(), e)
}

// key names the server in the catalogue by all that decides what it offers,
// except the values of variables and headers, which are secrets. What is added to
// the configuration of servers is a part of it without more ado.
func (s *Server) key() catalogue.Key {
	cfg := s.cfg
	start := cfg.StartedAs()
	start.Name, start.Disabled, start.Problem = "", false, nil
	start.Env, start.Headers, start.OAuth.ClientSecret = nil, nil, ""
	id := struct {
		Start              config.Server
		Variables, Headers []string
		Program            string
		Size, Changed      int64
	}{Start: start, Variables: slices.Sorted(maps.Keys(cfg.Env)), Headers: slices.Sorted(maps.Keys(cfg.Headers))}
	if cfg.Transport == config.TransportStdio {
		spec := child.Spec{Command: cfg.Command, Env: environment(cfg, s.box.opts.Environ), Dir: cfg.Cwd}
		if path, err := spec.Path(); err == nil {
			id.Program = path
			if info, err := os.Stat(path); err == nil {
				id.Size, id.Changed = info.Size(), info.ModTime().UnixNano()
			}
		}
	}
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

// drift says how tools differ from those that were there before; "" if they
// are the same.
func drift(before, now []Item) string {
	old := make(map[foreign.Name][]byte, len(before))
	for _, it := range before {
		old[it.Key] = it.Raw
	}
	var changed, added, gone []foreign.Name
	for _, it := range now {
		raw, had := old[it.Key]
		switch {
		case !had:
			added = append(added, it.Key)
		case !bytes.Equal(raw, it.Raw):
			changed = append(changed, it.Key)
		}
		delete(old, it.Key)
	}
	for _, it := range before {
		if _, missed := old[it.Key]; missed {
			gone = append(gone, it.Key)
		}
	}
	var parts []string
	for _, p := range []struct {
		names []foreign.Name
		what  string
	}{{changed, "changed"}, {added, "added"}, {gone, "gone"}} {
		if len(p.names) > 0 {
			parts = append(parts, fmt.Sprintf("%d %s (%s)", len(p.names), p.what, few(p.names)))
		}
	}
	if parts == nil {
		return ""
	}
	return "tools are not as they were last seen: " + strings.Join(parts, ", ")
}

// few lists names, not more than fit a line.
func few(names []foreign.Name) string {
	const most = 10
	var shown []string
	for _, name := range names[:min(len(names), most)] {
		shown = append(shown, name.String())
	}
	list := strings.Join(shown, ", ")
	if len(names) > most {
		list += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return list
}
