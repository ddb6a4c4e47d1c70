package link

import (
	"context"
	"net/http"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox/remote"
)

// session is what was agreed on with a server over HTTP, and makes the requests that say so.
type session struct {
	server *remote.Requester
	mirror mirrors

	mu      sync.Mutex
	id      string // that the server gave; "" for none
	version string // "" before the handshake is done
}

// agree notes the version that was agreed on.
func (s *session) agree(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = version
	if eras.Of(version).IsStateless() {
		s.id = "" // such an era has no sessions
	}
}

// name takes the id that a server gives the session: the first, in a revision that has sessions.
func (s *session) name(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.id == "" && !eras.Of(s.version).IsStateless() {
		s.id = id
	}
}

func (s *session) get() (id, version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id, s.version
}

// isNamed reports whether the server gave the session an id.
func (s *session) isNamed() bool {
	id, _ := s.get()
	return id != ""
}

func (s *session) era() eras.Era {
	_, version := s.get()
	return eras.Of(version)
}

// request makes a request of the session; one without a body is for events.
func (s *session) request(ctx context.Context, method string, body []byte) (*http.Request, error) {
	req, err := s.server.Request(ctx, method, s.server.URL(), body)
	if err != nil {
		return nil, err
	}
	id, version := s.get()
	if id != "" {
		req.Header.Set("Mcp-Session-Id", id)
	}
	if version != "" {
		req.Header.Set("MCP-Protocol-Version", version)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		s.standardHeaders(req, version, body)
	} else {
		req.Header.Set("Accept", "text/event-stream")
	}
	return req, nil
}

// standardHeaders sets the headers that mirror the body in the modern era.
func (s *session) standardHeaders(req *http.Request, version string, body []byte) {
	var m wire.Message
	if wire.Scan(body, &m) != nil || m.Kind != wire.Request {
		return
	}
	method := string(m.Bytes(m.Method))
	if method == "server/discover" {
		version, _ = m.Text(m.Params, "_meta", eras.Version)
		req.Header.Set("MCP-Protocol-Version", version)
	}
	if !eras.Of(version).IsStateless() {
		return
	}
	for k, v := range mcp.StandardHeaders(version, mcp.MCPMethod(method), m.Bytes(m.Params)) {
		req.Header.Set(k, v)
	}
	if name := eras.NameMember(method); name == "taskId" {
		text, _ := m.Text(m.Params, name)
		if encoded, ok := mcp.EncodeHeaderValue(text); ok {
			req.Header.Set(mcp.HeaderName, encoded)
		}
	}
	if method == "tools/call" {
		for k, v := range s.mirror.headers(&m) {
			req.Header.Set(k, v)
		}
	}
}
