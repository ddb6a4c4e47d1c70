package proxy_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// overHTTP is an endpoint that speaks to a front over HTTP as a client does: a
// POST for each message, and a stream for what belongs to none. With it, what
// holds on a stream of lines can be asked of the HTTP front too.
type overHTTP struct{ w *web }

// Connect implements wire.Endpoint.
func (e overHTTP) Connect(send func([]byte)) wire.Session {
	s := &httpSession{w: e.w, send: send}
	s.ctx, s.leave = context.WithCancel(context.Background())
	return s
}

type httpSession struct {
	w      *web
	ctx    context.Context // ends with the session
	leave  context.CancelFunc
	header string // names the session, after initialize

	mu   sync.Mutex // send's
	send func([]byte)
	work sync.WaitGroup
}

// Receive implements wire.Session.
func (s *httpSession) Receive(msg []byte) {
	s.w.t.Helper()
	var m wire.Message
	if err := wire.Scan(msg, &m); err != nil {
		s.w.t.Errorf("sending %.200s: %v", msg, err)
		return
	}
	resp := s.w.do(s.ctx, http.MethodPost, "/mcp", string(msg), s.headers(&m)...)
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" && s.header == "" {
		s.header = "Mcp-Session-Id: " + id
	}
	switch {
	case m.Kind != wire.Request && resp.StatusCode != http.StatusAccepted:
		s.w.t.Errorf("%.200s: got %s, want 202", msg, resp.Status)
	case m.IsMethod("initialize"):
		s.copy(resp) // at once, since all that follows is after it
	case m.Kind == wire.Request:
		s.work.Go(func() { s.copy(resp) })
		return
	case m.IsMethod("notifications/initialized"):
		stream := s.w.do(s.ctx, http.MethodGet, "/mcp", "", s.header)
		s.work.Go(func() { s.copy(stream) })
	}
	_ = resp.Body.Close()
}

// headers are those that a message of its era has to have.
func (s *httpSession) headers(m *wire.Message) []string {
	var headers []string
	if s.header != "" {
		return append(headers, s.header)
	}
	if m.Kind != wire.Request || m.IsMethod("initialize") {
		return headers
	}
	headers = append(headers, "Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: "+string(m.Bytes(m.Method)))
	if span, err := wire.FindPath(m.Raw, m.Params, "name"); err == nil && span.Present() {
		name, _ := wire.Unquote(m.Bytes(span))
		headers = append(headers, "Mcp-Name: "+name)
	}
	return headers
}

// copy hands on what a response brings.
func (s *httpSession) copy(resp *http.Response) {
	defer resp.Body.Close()
	all := newMessages(s.w.t, resp, func() {})
	for {
		msg, ok := all.next()
		if !ok {
			return
		}
		s.mu.Lock()
		s.send([]byte(msg))
		s.mu.Unlock()
		if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
			return
		}
	}
}

// Close implements wire.Session.
func (s *httpSession) Close(context.Context) error {
	if s.header != "" {
		_ = s.w.do(s.ctx, http.MethodDelete, "/mcp", "", s.header).Body.Close()
	}
	s.leave()
	s.work.Wait()
	return nil
}

// Each behaviour of a call is the same over HTTP.
func TestBehavioursOverHTTP(t *testing.T) {
	for _, w := range ways() {
		if w.server == "" {
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			front := newWeb(t, `{"toolboxes": {"dev": {"open": true, "mcpServers": {"a": {`+w.server+`}}}}}`, webOptions{})
			behave(t, w, connect(t, overHTTP{front}))
		})
	}
}
