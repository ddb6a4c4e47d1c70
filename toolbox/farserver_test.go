package toolbox_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// farServer is a server behind HTTP: streamable HTTP at /mcp, the transport of revision 2024-11-05 at /sse.
type farServer struct {
	*httptest.Server
	t     *testing.T
	fake  *mcptest.Server
	json  bool // replies are JSON documents, not streams
	deaf  bool // there is no GET stream
	lines bool // messages are written in several lines
	// before may answer a request in place of the server; it reports whether it did. m is nil for what is no message.
	before func(w http.ResponseWriter, r *http.Request, m *wire.Message) bool

	ended chan struct{} // ends all streams

	mu       sync.Mutex
	sessions map[string]*farSession
	made     int
	seen     []seen
}

// seen is one HTTP request that came.
type seen struct {
	verb   string
	method string // of the message in it
	body   string
	header http.Header
}

// farSession is one client of a farServer.
type farSession struct {
	id      string
	session wire.Session

	receiving sync.Mutex // calls of the session do not overlap
	closed    bool

	mu    sync.Mutex
	posts []*post // requests in flight, the oldest first
	get   chan string
}

type post struct {
	id  string
	out chan string
}

func newFarServer(t *testing.T, r *farServer) *farServer {
	t.Helper()
	r.t = t
	if r.fake == nil {
		r.fake = &mcptest.Server{}
	}
	r.ended = make(chan struct{})
	r.sessions = make(map[string]*farSession)
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", r.streamable)
	mux.HandleFunc("/sse", r.events)
	mux.HandleFunc("/messages", r.message)
	r.Server = httptest.NewServer(mux)
	t.Cleanup(func() {
		close(r.ended)
		r.Close()
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, s := range r.sessions {
			s.close()
		}
	})
	return r
}

// config is the configuration of the server.
func (r *farServer) config(transport config.Transport) config.Server {
	path := "/mcp"
	if transport == config.TransportSSE {
		path = "/sse"
	}
	return config.Server{
		Name: "far", Transport: transport, URL: r.URL + path,
		Headers:  map[string]string{"X-Api-Key": "k3y", "Authorization": "Bearer t0ken", "host": "tools.example"},
		Timeouts: config.Timeouts{Start: 10 * time.Second, CallIdle: time.Minute, CallTotal: time.Minute},
	}
}

// open opens a toolbox with the server.
func (r *farServer) open(transport config.Transport, opts toolbox.Options) (*toolbox.Toolbox, *toolbox.Server) {
	r.t.Helper()
	opts.HTTP = r.Client()
	b := open(r.t, opts, r.config(transport))
	return b, server(r.t, b, "far")
}

func (r *farServer) note(req *http.Request, body []byte) *wire.Message {
	s := seen{verb: req.Method, body: string(body), header: req.Header.Clone()}
	s.header.Set("Host", req.Host)
	m := new(wire.Message)
	if wire.Scan(body, m) != nil {
		m = nil
	} else {
		s.method = string(m.Bytes(m.Method))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, s)
	return m
}

// came returns the requests of a verb, and of a method unless that is "".
func (r *farServer) came(verb, method string) []seen {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []seen
	for _, s := range r.seen {
		if s.verb == verb && (method == "" || s.method == method) {
			all = append(all, s)
		}
	}
	return all
}

// session finds the session of a request, or makes one with a new id.
func (r *farServer) session(id string) *farSession {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.sessions[id]; s != nil || id != "" {
		return s
	}
	r.made++
	s := &farSession{id: fmt.Sprintf("session-%d", r.made), get: make(chan string, 100)}
	s.session = r.fake.Connect(s.send)
	r.sessions[s.id] = s
	return s
}

// receive gives a message to the fake; what comes after the end is lost.
func (s *farSession) receive(msg []byte) {
	s.receiving.Lock()
	defer s.receiving.Unlock()
	if !s.closed {
		s.session.Receive(msg)
	}
}

func (s *farSession) close() {
	s.receiving.Lock()
	defer s.receiving.Unlock()
	if !s.closed {
		s.closed = true
		_ = s.session.Close(context.Background())
	}
}

// send takes what the fake says: what belongs to a request goes to its response, a question to the newest request,
// anything else to the GET stream.
func (s *farSession) send(msg []byte) {
	var m wire.Message
	if err := wire.Scan(msg, &m); err != nil {
		panic(err)
	}
	id := m.ID
	if m.Kind == wire.Notification {
		// The front's token is the id of the request.
		id, _ = wire.FindPath(m.Raw, m.Params, "progressToken")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.posts, func(p *post) bool { return m.Kind != wire.Request && p.id == string(m.Bytes(id)) })
	if m.Kind == wire.Request {
		i = len(s.posts) - 1
	}
	switch {
	case i >= 0:
		s.posts[i].out <- string(msg)
		if m.Kind == wire.Result || m.Kind == wire.Failure {
			close(s.posts[i].out)
			s.posts = slices.Delete(s.posts, i, i+1)
		}
	case m.Kind == wire.Notification || m.Kind == wire.Request:
		s.get <- string(msg)
	}
}

// push says something on the GET stream.
func (r *farServer) push(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.sessions {
		s.get <- text
	}
}

// hangUp ends the GET streams of the sessions that there are.
func (r *farServer) hangUp() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.sessions {
		close(s.get)
	}
}

func (r *farServer) streamable(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // the client went away
	}
	m := r.note(req, body)
	if r.before != nil && r.before(w, req, m) {
		return
	}
	id := req.Header.Get("Mcp-Session-Id")
	if id == "" && !r.fake.Modern && (m == nil || !m.IsMethod("initialize")) {
		http.Error(w, "no session", http.StatusBadRequest)
		return
	}
	if r.fake.Modern && m != nil && m.Kind == wire.Request {
		if err := mcp.ValidateStandardHeaders(req.Header.Get, mcp.LATEST_PROTOCOL_VERSION, mcp.MCPMethod(m.Bytes(m.Method)), m.Bytes(m.Params)); err != nil && !m.IsMethod("initialize") {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		id = "modern"
		r.mu.Lock()
		if r.sessions[id] == nil {
			s := &farSession{id: id, get: make(chan string, 100)}
			s.session = r.fake.Connect(s.send)
			r.sessions[id] = s
		}
		r.mu.Unlock()
	}
	s := r.session(id)
	switch {
	case s == nil:
		http.Error(w, "no such session", http.StatusNotFound)
	case req.Method == http.MethodDelete:
		r.mu.Lock()
		delete(r.sessions, id)
		r.mu.Unlock()
		s.close()
	case req.Method == http.MethodGet && r.deaf:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case req.Method == http.MethodGet:
		r.stream(w, req, s.get)
	case m == nil || m.Kind != wire.Request:
		s.receive(body)
		w.WriteHeader(http.StatusAccepted)
	default:
		r.answer(w, req, s, body, m)
	}
}

// answer has the fake work on a request and writes what it says.
func (r *farServer) answer(w http.ResponseWriter, req *http.Request, s *farSession, body []byte, m *wire.Message) {
	p := &post{id: string(m.Bytes(m.ID)), out: make(chan string, 10000)}
	s.mu.Lock()
	s.posts = append(s.posts, p)
	s.mu.Unlock()
	if !r.fake.Modern {
		w.Header().Set("Mcp-Session-Id", s.id)
	}
	s.receive(body)
	if !r.json {
		r.stream(w, req, p.out)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	for {
		select {
		case text, more := <-p.out:
			if !more {
				return
			}
			if strings.Contains(text, `"method":`) {
				continue // there is no room for it
			}
			if r.lines {
				text = strings.Replace(text, `,"id"`, ",\r\n\t\"id\"", 1)
			}
			_, _ = io.WriteString(w, text)
		case <-req.Context().Done():
			return
		case <-r.ended:
			return
		}
	}
}

// stream writes events until there are no more or the client is gone.
func (r *farServer) stream(w http.ResponseWriter, req *http.Request, out <-chan string) {
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, ": welcome\n\n")
	flush := http.NewResponseController(w).Flush
	if flush() != nil {
		return
	}
	for {
		select {
		case text, more := <-out:
			if !more {
				return
			}
			if r.lines {
				text = strings.Replace(text, `,"`, ",\ndata: \"", 1)
			}
			fmt.Fprintf(w, "event: message\ndata: %s\n\n", text)
			if flush() != nil {
				return
			}
		case <-req.Context().Done():
			return
		case <-r.ended:
			return
		}
	}
}

// events is the stream of the transport of revision 2024-11-05.
func (r *farServer) events(w http.ResponseWriter, req *http.Request) {
	m := r.note(req, nil)
	if r.before != nil && r.before(w, req, m) {
		return
	}
	s := r.session("")
	all := make(chan string, 10000)
	r.mu.Lock()
	s.get = all
	s.session = r.fake.Connect(func(msg []byte) { all <- string(msg) })
	r.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "event: endpoint\ndata: /messages?session=%s\n\n", s.id)
	r.stream(w, req, all)
}

func (r *farServer) message(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	m := r.note(req, body)
	if r.before != nil && r.before(w, req, m) {
		return
	}
	s := r.session(req.URL.Query().Get("session"))
	if s == nil {
		http.NotFound(w, req)
		return
	}
	s.receive(body)
	w.WriteHeader(http.StatusAccepted)
	fmt.Fprint(w, "Accepted") // as the Python SDK says it
}
