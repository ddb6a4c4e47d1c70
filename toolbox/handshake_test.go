package toolbox_test

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// A server that takes longer to start than the probe waits is spoken to in the era that it has, whatever the client's.
func TestSlowStart(t *testing.T) {
	const newest, newestLegacy = "2026-07-28", "2025-11-25"
	tests := []struct {
		name   string
		client string
		server *mcptest.Server
	}{
		{"modern client, modern server", newest, &mcptest.Server{Modern: true}},
		{"modern client, legacy server", newest, &mcptest.Server{}},
		{"legacy client, modern server", newestLegacy, &mcptest.Server{Modern: true}},
		{"legacy client, legacy server", newestLegacy, &mcptest.Server{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				build := func(principal.Principal, config.Server) (wire.Endpoint, error) { return slow{test.server}, nil }
				b := open(t, toolbox.Options{
					Client:   toolbox.Client{Version: test.client},
					Builtins: map[string]toolbox.Builtin{"slow": build},
				}, config.Server{Name: "s", Transport: config.TransportBuiltin, Builtin: "slow", Timeouts: childServer("", "").Timeouts})
				s := server(t, b, "s")
				if st := s.Status(); st.State != toolbox.Ready {
					t.Fatalf("got state %s, %v, want ready", st.State, st.Cause)
				}
				if got, want := s.Era().IsStateless(), test.server.Modern; got != want {
					t.Errorf("got modern %v want %v", got, want)
				}
			})
		})
	}
}

// A server of both eras that is too slow in starting is not kept as one that leaves server/discover unanswered.
func TestSlowStartIsNotKept(t *testing.T) {
	for name, tt := range map[string]struct {
		builtin wire.Endpoint
		mute    bool
	}{
		"slow": {both(10 * time.Second), false},
		"mute": {&mcptest.Server{Silent: []string{"server/discover"}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := config.Server{Name: "s", Transport: config.TransportBuiltin, Builtin: "s", Timeouts: childServer("", "").Timeouts}
				kept := catalogueIn(t.TempDir())
				b := open(t, toolbox.Options{
					Client:    toolbox.Client{Version: "2026-07-28"},
					Catalogue: kept,
					Builtins:  map[string]toolbox.Builtin{"s": func(principal.Principal, config.Server) (wire.Endpoint, error) { return tt.builtin, nil }},
				}, cfg)
				ready(t, server(t, b, "s"))
				if err := b.Close(); err != nil {
					t.Fatal(err)
				}
				if e := kept.List().Newest(toolbox.KeyOf(cfg)); e == nil || e.Version != "2025-11-25" || e.Mute != tt.mute {
					t.Errorf("got %t, want a legacy server, mute %t", e != nil && e.Mute, tt.mute)
				}
			})
		})
	}
}

// both is a server of both eras that answers what it is asked first a while after its start, and then the rest in order.
type both time.Duration

func (rest both) Connect(send func([]byte)) wire.Session {
	replied := make(chan struct{}, 100)
	reply := func(raw []byte) {
		send(raw)
		if bytes.Contains(raw, []byte(`"id":`)) {
			replied <- struct{}{}
		}
	}
	legacy, modern := (&mcptest.Server{}).Connect(reply), (&mcptest.Server{Modern: true}).Connect(reply)
	s := &bothSession{legacy, make(chan []byte, 100), make(chan struct{})}
	go func() {
		defer close(s.over)
		time.Sleep(time.Duration(rest))
		to := modern
		for raw := range s.read {
			if bytes.Contains(raw, []byte(`"initialize"`)) {
				to = legacy
			}
			to.Receive(raw)
			if bytes.Contains(raw, []byte(`"id":`)) {
				<-replied
			}
		}
		_ = modern.Close(context.Background())
	}()
	return s
}

type bothSession struct {
	wire.Session
	read chan []byte
	over chan struct{}
}

func (s *bothSession) Receive(raw []byte) { s.read <- bytes.Clone(raw) }

func (s *bothSession) Close(ctx context.Context) error {
	close(s.read)
	<-s.over
	return s.Session.Close(ctx)
}

// A server that answers initialize by revision 2026-07-28 is spoken to in that.
func TestFaultH8_InitializeIsAnsweredByAModernVersion(t *testing.T) {
	builtin := func(principal.Principal, config.Server) (wire.Endpoint, error) {
		return &mcptest.Server{Modern: true, Greets: true}, nil
	}
	b := open(t, toolbox.Options{
		Client:   toolbox.Client{Version: "2025-11-25"},
		Builtins: map[string]toolbox.Builtin{"greets": builtin},
	}, config.Server{Name: "s", Transport: config.TransportBuiltin, Builtin: "greets", Timeouts: childServer("", "").Timeouts})
	s := server(t, b, "s")
	if st := s.Status(); st.State != toolbox.Ready || !s.Era().IsStateless() || st.Tools == 0 {
		t.Fatalf("got %+v, modern %t, want a modern server that is ready, with its tools", st, s.Era().IsStateless())
	}
	call, h := newCall(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"n":1}}}`)
	s.Send(call)
	if err := <-h.done; err != nil {
		t.Error(err)
	}
}

// What a server says of itself in a wrong type is told in the words of the protocol, and not of this program.
func TestMisdescribed(t *testing.T) {
	for result, want := range map[string]string{
		`{"protocolVersion":5}`: "initialize: the result cannot be read: protocolVersion: want a string, got JSON of the type number",
		`[]`:                    "initialize: the result cannot be read: want an object, got JSON of the type array",
		`{"protocolVersion":"2025-11-25","capabilities":[]}`: "initialize: the capabilities cannot be read: want an object, got JSON of the type array",
	} {
		builtin := func(principal.Principal, config.Server) (wire.Endpoint, error) { return misdescribed(result), nil }
		b := open(t, toolbox.Options{
			Client:   toolbox.Client{Version: "2025-11-25"},
			Builtins: map[string]toolbox.Builtin{"s": builtin},
		}, config.Server{Name: "s", Transport: config.TransportBuiltin, Builtin: "s", Timeouts: childServer("", "").Timeouts})
		if st := server(t, b, "s").Status(); st.Cause == nil || st.Cause.Error() != want {
			t.Errorf("%s: got %v, want %s", result, st.Cause, want)
		}
	}
}

// misdescribed is a server that answers everything with one result.
type misdescribed string

func (m misdescribed) Connect(send func([]byte)) wire.Session { return misdescribedSession{m, send} }

type misdescribedSession struct {
	result misdescribed
	send   func([]byte)
}

func (s misdescribedSession) Receive(raw []byte) {
	if id := wire.Get(raw, wire.Whole(raw), "id"); id != nil {
		s.send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, s.result))
	}
}

func (misdescribedSession) Close(context.Context) error { return nil }

// slow is a server that reads nothing for its first ten seconds.
type slow struct{ *mcptest.Server }

func (s slow) Connect(send func([]byte)) wire.Session {
	return &slowSession{Session: s.Server.Connect(send), ready: time.Now().Add(10 * time.Second)}
}

type slowSession struct {
	wire.Session
	ready time.Time
	late  sync.WaitGroup
}

func (s *slowSession) Receive(raw []byte) {
	raw = bytes.Clone(raw)
	s.late.Go(func() {
		time.Sleep(time.Until(s.ready))
		s.Session.Receive(raw)
	})
}

func (s *slowSession) Close(ctx context.Context) error {
	s.late.Wait()
	return s.Session.Close(ctx)
}

// A server may ask the client as soon as it has greeted it, while it is not settled yet what it is spoken to in.
func TestQuestionDuringTheHandshake(t *testing.T) {
	p := newPeer()
	r := &reluctant{Server: &mcptest.Server{}, method: "initialize"}
	r.do = func(_ int, m *wire.Message, _ func(), answer func([]byte)) {
		greeting := wire.AppendResult(nil, m.Bytes(m.ID), []byte(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`))
		go func() { // as what reads from a process does
			answer(greeting)
			answer([]byte(`{"jsonrpc":"2.0","id":"asked","method":"roots/list"}`))
		}()
	}
	b, _ := within(t, toolbox.Options{Peer: p}, func(int) (wire.Endpoint, error) { return r, nil })
	if err := b.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	(<-p.requests).Refuse(wire.CodeInternal, "not now")
}
