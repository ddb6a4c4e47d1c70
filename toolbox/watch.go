package toolbox

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// IsModern reports whether the server spoke revision 2026-07-28 when it was last
// ready.
func (s *Server) IsModern() bool {
	h := s.said()
	return h != nil && h.Modern
}

// MayBeModern reports whether the server may speak revision 2026-07-28 when it is
// ready next: it did the last time, or was not seen yet.
func (s *Server) MayBeModern() bool {
	h := s.said()
	return h == nil || h.Modern
}

// Watch notes that the client wants to hear of changes of a resource, or no
// longer does, so that a server that restarts is asked again. A modern server
// is asked here; a legacy one was asked by the request that the caller
// forwarded.
func (s *Server) Watch(uri string, on bool) {
	s.mu.Lock()
	same := s.watched[uri] == on
	if on {
		s.watched[uri] = true
	} else {
		delete(s.watched, uri)
	}
	c := s.conn
	asleep := s.status.asleep()
	s.mu.Unlock()
	switch {
	case on && asleep:
		s.retry()
	case c != nil && c.hello.Modern && !same:
		s.listen(c)
	}
}

// WatchTask notes that a client wants to hear of a task, or that one does no
// longer; it is called with false as often as with true. A server of the legacy
// era tells of all tasks by itself.
func (s *Server) WatchTask(id string, on bool) {
	s.mu.Lock()
	before := s.watchedTasks[id]
	switch {
	case on:
		s.watchedTasks[id]++
	case before > 1:
		s.watchedTasks[id]--
	default:
		delete(s.watchedTasks, id)
	}
	changed := (before > 0) != (s.watchedTasks[id] > 0)
	c := s.conn
	s.mu.Unlock()
	if c != nil && c.hello.Modern && changed {
		s.listen(c)
	}
}

// watchAgain asks a server that has just become ready for what was wanted of
// the one before it.
func (s *Server) watchAgain(c *conn) {
	if c.hello.Modern {
		s.listen(c)
		return
	}
	s.mu.Lock()
	uris := slices.Sorted(maps.Keys(s.watched))
	s.mu.Unlock()
	if len(uris) == 0 {
		return
	}
	s.box.tasks.Begin(func() {
		for _, uri := range uris {
			ctx, cancel := context.WithTimeout(s.life, optionalList)
			// A server that refuses goes on unwatched, as it would have.
			_, _ = c.call(ctx, "resources/subscribe", append(wire.AppendQuote([]byte(`{"uri":`), uri), '}'))
			cancel()
		}
	})
}

// listenPause is the rest before a subscription that ended is made again.
const listenPause = 5 * time.Second

// listen opens the stream on which a modern server tells of changes, in place
// of the one before it.
func (s *Server) listen(c *conn) {
	s.mu.Lock()
	uris, tasks := slices.Sorted(maps.Keys(s.watched)), slices.Sorted(maps.Keys(s.watchedTasks))
	s.mu.Unlock()
	raw := []byte(`{"jsonrpc":"2.0","id":0,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true`)
	raw = appendStrings(raw, `,"resourceSubscriptions":`, uris)
	raw = appendStrings(raw, `,"taskIds":`, tasks)
	raw = append(raw, "}}}"...)
	var m wire.Message
	if err := wire.Scan(raw, &m); err != nil {
		panic("our own message cannot be read: " + err.Error())
	}
	call := &Call{Raw: raw, ID: m.ID, Params: m.Params, Tasks: len(tasks) > 0, open: true}
	call.Handler = &listener{server: s, conn: c, call: call}
	if old := c.listening.Swap(call); old != nil {
		old.Cancel(nil, wire.Span{})
	}
	if err := c.send(call); err != nil {
		return // the connection is ending; the next one is asked anew
	}
}

// appendStrings appends a member that is a list of strings, unless there are none.
func appendStrings(raw []byte, member string, list []string) []byte {
	if len(list) == 0 {
		return raw
	}
	raw = append(append(raw, member...), '[')
	for i, text := range list {
		if i > 0 {
			raw = append(raw, ',')
		}
		raw = wire.AppendQuote(raw, text)
	}
	return append(raw, ']')
}

// listener makes a subscription again that the server ended.
type listener struct {
	server *Server
	conn   *conn
	call   *Call
}

func (l *listener) Progress(*wire.Message, wire.Span) {}

func (l *listener) Done(m *wire.Message, err error) {
	if err != nil || m.Kind != wire.Result {
		return // the connection is gone, or the server has no subscriptions
	}
	l.server.box.tasks.Begin(func() {
		pause := time.NewTimer(listenPause)
		defer pause.Stop()
		select {
		case <-pause.C:
		case <-l.conn.link.Done():
			return
		case <-l.server.life.Done():
			return
		}
		if l.conn.listening.Load() == l.call {
			l.server.listen(l.conn)
		}
	})
}
