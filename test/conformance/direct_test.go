package conformance

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/test/conformance/fixture"
)

// directly serves the fixture over HTTP without workbench, to see what it passes by itself. There is as much of the
// transport as the fixture needs to be asked: sessions, replies in JSON, and the headers of 2026-07-28; no streams.
func directly(tb testing.TB) string {
	tb.Helper()
	d := &direct{sessions: make(map[string]*directSession)}
	d.modern = d.connect()
	server := httptest.NewServer(d)
	tb.Cleanup(func() {
		server.Close()
		for _, s := range append([]*directSession{d.modern}, d.all()...) {
			_ = s.Close(context.Background())
		}
	})
	return server.URL
}

type direct struct {
	modern *directSession // of all clients of 2026-07-28

	mu       sync.Mutex
	sessions map[string]*directSession
}

func (d *direct) all() (all []*directSession) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.sessions {
		all = append(all, s)
	}
	return all
}

// directSession is a session of the fixture, with what waits for its replies.
type directSession struct {
	wire.Session
	mu      sync.Mutex
	last    int
	waiting map[string]chan []byte
}

func (d *direct) connect() *directSession {
	s := &directSession{waiting: make(map[string]chan []byte)}
	s.Session = (&fixture.Server{}).Connect(func(raw []byte) {
		var m wire.Message
		if wire.Scan(bytes.Clone(raw), &m) != nil || m.Kind != wire.Result && m.Kind != wire.Failure {
			return // there is no stream for it
		}
		s.mu.Lock()
		to := s.waiting[string(m.Bytes(m.ID))]
		delete(s.waiting, string(m.Bytes(m.ID)))
		s.mu.Unlock()
		if to != nil {
			to <- m.Raw
		}
	})
	return s
}

// ask has the fixture answer a request; nil if the client gave up.
func (s *directSession) ask(ctx context.Context, m *wire.Message) *wire.Message {
	reply := make(chan []byte, 1)
	s.mu.Lock()
	s.last++
	id := fmt.Sprint(s.last)
	s.waiting[id] = reply
	s.mu.Unlock()
	s.Receive(wire.Splice(nil, m.Raw, wire.Edit{Span: m.ID, New: []byte(id)}))
	select {
	case raw := <-reply:
		var answer wire.Message
		if wire.Scan(raw, &answer) != nil {
			return nil
		}
		return &answer
	case <-ctx.Done():
		return nil
	}
}

func (d *direct) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get(mcp.HeaderSessionID)
	d.mu.Lock()
	s := d.sessions[id]
	if r.Method == http.MethodDelete {
		delete(d.sessions, id)
	}
	d.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	var m wire.Message
	switch {
	case id != "" && s == nil:
		w.WriteHeader(http.StatusNotFound)
		return
	case r.Method == http.MethodDelete:
		_ = s.Close(context.Background())
		return
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	case err != nil || wire.Scan(body, &m) != nil:
		w.WriteHeader(http.StatusBadRequest)
		return
	case m.Kind != wire.Request:
		w.WriteHeader(http.StatusAccepted)
		return
	}
	method := string(m.Bytes(m.Method))
	version := r.Header.Get(mcp.HeaderProtocolVersion)
	switch {
	case mcp.IsModernProtocol(version):
		s = d.modern
		if refusal := headerFault(r.Header, version, method, &m); refusal != "" {
			reply(w, http.StatusBadRequest, wire.AppendError(nil, m.Bytes(m.ID), -32020, refusal, nil))
			return
		}
	case method == "initialize":
		s, id = d.connect(), rand.Text()
		d.mu.Lock()
		d.sessions[id] = s
		d.mu.Unlock()
		w.Header().Set(mcp.HeaderSessionID, id)
	case s == nil:
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	answer := s.ask(r.Context(), &m)
	if answer == nil {
		return
	}
	status := http.StatusOK
	if code, err := wire.FindPath(answer.Raw, answer.Error, "code"); s == d.modern && answer.Kind == wire.Failure && err == nil {
		switch string(answer.Bytes(code)) {
		case "-32601":
			status = http.StatusNotFound
		case "-32020", "-32021", "-32022":
			status = http.StatusBadRequest
		}
	}
	reply(w, status, wire.Splice(nil, answer.Raw, wire.Edit{Span: answer.ID, New: m.Bytes(m.ID)}))
}

func reply(w http.ResponseWriter, status int, raw []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(raw) // a client that is gone reads nothing
}

// headerFault says what is wrong with the headers of a request of 2026-07-28, "" for nothing.
func headerFault(header http.Header, version, method string, m *wire.Message) string {
	if err := mcp.ValidateStandardHeaders(header.Get, version, mcp.MCPMethod(method), json.RawMessage(m.Bytes(m.Params))); err != nil {
		return err.Error()
	}
	if eras.NameMember(method) == "taskId" {
		id, _ := wire.FindPath(m.Raw, m.Params, "taskId")
		if text, _ := wire.Unquote(m.Bytes(id)); text != header.Get(mcp.HeaderName) {
			return "header mismatch: Mcp-Name is not params.taskId"
		}
	}
	if name, _ := wire.FindPath(m.Raw, m.Params, "name"); method == "tools/call" && string(m.Bytes(name)) == `"test_header_parameter"` {
		tool := &mcp.Tool{RawInputSchema: json.RawMessage(
			`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}},"required":["region"]}`)}
		lookup := func(name string) (string, bool) {
			given := header[http.CanonicalHeaderKey(name)]
			return header.Get(name), len(given) > 0
		}
		if err := mcp.ValidateParamHeadersLookup(lookup, tool, m.Bytes(m.Params)); err != nil {
			return err.Error()
		}
	}
	return ""
}
