package toolbox_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
	"github.com/mcp-workbench/workbench/toolbox/rpc"
)

// speller writes lines of its own in place of replies: to calls that ask for one, or to all requests.
type speller struct {
	*mcptest.Server
	all   bool
	write func(id string) string
	heard func(*wire.Message) // may be nil
}

type spellerSession struct {
	wire.Session
	s    *speller
	send func([]byte)
}

func (s *speller) Connect(send func([]byte)) wire.Session {
	all := func(msg []byte) {
		var m wire.Message
		if s.all && wire.Scan(msg, &m) == nil && m.Kind == wire.Result {
			msg = wire.Splice(nil, msg, wire.Edit{Span: m.ID, New: []byte(s.write(string(m.Bytes(m.ID))))})
		}
		send(msg)
	}
	return &spellerSession{s.Server.Connect(all), s, send}
}

func (s *spellerSession) Receive(raw []byte) {
	var m wire.Message
	if wire.Scan(raw, &m) == nil && s.s.heard != nil {
		s.s.heard(&m)
	}
	if wire.Scan(raw, &m) == nil && strings.Contains(string(raw), `"write"`) {
		s.send([]byte(s.s.write(string(m.Bytes(m.ID)))))
	}
	s.Session.Receive(raw)
}

// hang calls a tool that is never answered as it should be.
func hang(t *testing.T, s *toolbox.Server, arguments string) *handler {
	t.Helper()
	call, h := newCall(t, `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"hang","arguments":`+arguments+`}}`)
	s.Send(call)
	return h
}

// A reply to nobody ends the one call that waits, and is said to those of several that time out; none of it is taken
// for a call's own.
func TestFaultG27_RepliesToNobody(t *testing.T) {
	const result = `"result":{"content":[]}`
	for name, tt := range map[string]struct {
		line string // in which % is the number of the request
		want string
	}{
		"negative":          {`{"jsonrpc":"2.0","id":-3,` + result + `}`, "sent a reply to no request"},
		"an array":          {`{"jsonrpc":"2.0","id":[%],` + result + `}`, "sent a reply to no request"},
		"null":              {`{"jsonrpc":"2.0","id":null,` + result + `}`, "sent a reply to no request"},
		"an error, null":    {`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"I cannot read that"}}`, "I cannot read that"},
		"an error, no id":   {`{"jsonrpc":"2.0","error":{"code":1,"message":"broken"}}`, "broken"},
		"true":              {`{"jsonrpc":"2.0","id":true,` + result + `}`, "sent a reply to no request"},
		"with NUL":          {`{"jsonrpc":"2.0","id":"%\u0000",` + result + `}`, "sent a reply to no request"},
		"too large":         {`{"jsonrpc":"2.0","id":18446744073709551616,` + result + `}`, "sent a reply to no request"},
		"to come":           {`{"jsonrpc":"2.0","id":1000,` + result + `}`, "sent a reply to no request"},
		"its own, a string": {`{"jsonrpc":"2.0","id":"%",` + result + `}`, "with another id"},
		"a string of it":    {`{"jsonrpc":"2.0","id":"1000",` + result + `}`, "sent a reply to no request"},
		"zero":              {`{"jsonrpc":"2.0","id":0,` + result + `}`, "sent a reply to no request"},
		"nearly it":         {`{"jsonrpc":"2.0","id":%.0000000000000000000001,` + result + `}`, "sent a reply to no request"},
		"huge":              {`{"jsonrpc":"2.0","id":1e999999999,` + result + `}`, "sent a reply to no request"},
		"tiny":              {`{"jsonrpc":"2.0","id":1e-999999999,` + result + `}`, "sent a reply to no request"},
		"no JSON":           {`{"jsonrpc":"2.0","id":0%,` + result + `}`, "sent a reply to no request"},
		"no id":             {`{"jsonrpc":"2.0",` + result + `}`, "sent a reply to no request"},
		"ID":                {`{"jsonrpc":"2.0","ID":%,` + result + `}`, "its reply is not a valid message"},
		"ID and Result":     {`{"jsonrpc":"2.0","ID":%,"Result":{"content":[]}}`, "its reply is not a valid message"},
		"Result":            {`{"jsonrpc":"2.0","id":%,"Result":{"content":[]}}`, "its reply is not a valid message"},
		"a batch":           {`[{"jsonrpc":"2.0","id":%,` + result + `}]`, "its reply is not a valid message"},
		"no version":        {`{"id":%,` + result + `}`, "its reply is not a valid message"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sp := &speller{Server: &mcptest.Server{}, write: func(id string) string { return strings.ReplaceAll(tt.line, "%", id) }}
				b, s := within(t, toolbox.Options{}, func(int) (wire.Endpoint, error) { return sp, nil })
				if err := b.Open(t.Context(), 10*time.Second); err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				err := <-hang(t, s, `{"write":1}`).done
				if took := time.Since(began); err == nil || !strings.Contains(err.Error(), tt.want) || took > time.Second {
					t.Errorf("after %s got %v, want %q", took, err, tt.want)
				}
				call, h := newCall(t, `{"jsonrpc":"2.0","id":"y","method":"tools/call","params":{"name":"echo","arguments":{}}}`)
				if s.Send(call); <-h.done != nil {
					t.Error("the call after it failed")
				}
				if strings.Contains(tt.want, "valid") || strings.Contains(tt.want, "another id") {
					return // it named its call
				}
				for _, h := range []*handler{hang(t, s, `{}`), hang(t, s, `{}`), hang(t, s, `{"write":1}`)} {
					var late *rpc.TimeoutError
					if err := <-h.done; !errors.As(err, &late) || !strings.Contains(err.Error(), "sent a reply to no request") {
						t.Errorf("one of several calls: got %v, want a time-out that says what came", err)
					}
				}
			})
		})
	}
}

// Lines of a log are no replies, and a reply that comes soon after one to nobody is taken, as is one after progress.
func TestFaultG27_WhatIsNoReplyToNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines []string
		sp := &speller{Server: &mcptest.Server{}, write: func(id string) string {
			return strings.ReplaceAll(lines[0], "%", id)
		}}
		b, s := within(t, toolbox.Options{}, func(int) (wire.Endpoint, error) { return sp, nil })
		if err := b.Open(t.Context(), 10*time.Second); err != nil {
			t.Fatal(err)
		}
		for _, line := range []string{
			`{"level":"error","error":"connection refused","msg":"x"}`,
			`{"level":"info","id":"req-1","error":null}`,
			`{"id":7,"event":"started"}`,
			`result: {"error": 1}`,
			`{"jsonrpc":"2.0","id":1,"result":{}}`, // a second reply to a request that was answered
			`{"jsonrpc":"2.0","method":"result","id":[1]}`,
		} {
			lines = []string{line}
			began := time.Now()
			err := <-hang(t, s, `{"write":1}`).done
			if took := time.Since(began); took < time.Minute || strings.Contains(fmt.Sprint(err), "no request") {
				t.Errorf("%s: after %s got %v, want the time-out alone", line, took, err)
			}
		}
	})
}

// What a server writes besides messages while a call waits is told when the call is late, such as a reply of several
// lines; what it wrote before is not.
func TestNoiseWhileACallWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := &speller{Server: &mcptest.Server{}, write: func(string) string { return `  "jsonrpc": "2.0",` }}
		b, s := within(t, toolbox.Options{}, func(int) (wire.Endpoint, error) { return sp, nil })
		if err := b.Open(t.Context(), 10*time.Second); err != nil {
			t.Fatal(err)
		}
		const want = `(timeouts.callIdle); on its standard output, which is for messages of MCP alone, it wrote "  'jsonrpc': '2.0',"`
		if err := <-hang(t, s, `{"write":1}`).done; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		if err := <-hang(t, s, `{}`).done; err == nil || strings.Contains(err.Error(), "it wrote") {
			t.Errorf("got %v, want the time-out alone", err)
		}
	})
}

// A server whose numbers are written in another way is understood.
func TestFaultG28_NumbersOfAnotherSpelling(t *testing.T) {
	for _, form := range []string{"%.0", "%e0", "%.000E+00", "%0e-1", "0.%e1"} {
		synctest.Test(t, func(t *testing.T) {
			sp := &speller{Server: &mcptest.Server{}, all: true, write: func(id string) string { return strings.ReplaceAll(form, "%", id) }}
			b, s := within(t, toolbox.Options{}, func(int) (wire.Endpoint, error) { return sp, nil })
			if err := b.Open(t.Context(), 10*time.Second); err != nil {
				t.Fatal(err)
			}
			if st := s.Status(); st.State != toolbox.Ready || st.Tools == 0 {
				t.Errorf("%s: got %+v, want it ready", form, st)
			}
		})
	}
}

// A server that answers initialize to nobody fails with that at once.
func TestFaultG28_WrongIDAtTheStart(t *testing.T) {
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		synctest.Test(t, func(t *testing.T) {
			sp := &speller{Server: &mcptest.Server{}, all: true, write: func(id string) string { return `"req-` + id + `"` }}
			b, s := within(t, toolbox.Options{Client: toolbox.Client{Version: version}}, func(int) (wire.Endpoint, error) { return sp, nil })
			if err := b.Open(t.Context(), 10*time.Second); err != nil {
				t.Fatal(err)
			}
			if text := s.Status().Explain(); !strings.Contains(text, `sent a reply to no request: "{'jsonrpc':'2.0','id':'req-`) {
				t.Errorf("%s: got %q, want what came", version, text)
			}
		})
	}
}

// A request of a server that breaks a rule is refused under its id, where it is certainly one, so that the server does
// not wait for ever; an id is repeated that is no longer than 1,024 bytes.
func TestBrokenRequestsAreRefused(t *testing.T) {
	long := `"` + strings.Repeat("i", 1022) + `"`
	for name, tt := range map[string]struct {
		line string
		want string // the code and the id of the answer, or "result" and the id; "" if none comes
	}{
		"method is a number":  {`{"jsonrpc":"2.0","id":"q","method":5}`, `-32600 "q"`},
		"params is a number":  {`{"jsonrpc":"2.0","id":"q","method":"ping","params":5}`, `-32600 "q"`},
		"a long id":           {`{"jsonrpc":"2.0","id":` + long + `,"method":5}`, `-32600 ` + long},
		"too long an id":      {`{"jsonrpc":"2.0","id":"i` + long[1:] + `,"method":5}`, ""},
		"no id":               {`{"jsonrpc":"2.0","method":5}`, ""},
		"a line of a log":     {`{"id":"q","method":5}`, ""},
		"a result, too":       {`{"jsonrpc":"2.0","id":"q","method":"ping","result":{}}`, ""},
		"an error, too":       {`{"jsonrpc":"2.0","id":"q","method":"ping","error":{"code":1,"message":"m"}}`, ""},
		"whole, a long id":    {`{"jsonrpc":"2.0","id":` + long + `,"method":"ping"}`, `result ` + long},
		"whole, too long one": {`{"jsonrpc":"2.0","id":"i` + long[1:] + `,"method":"ping"}`, ""},
		"a handshake":         {`{"jsonrpc":"2.0","id":"q","method":"initialize","params":{}}`, `-32601 "q"`},
		"one of our numbers":  {`{"jsonrpc":"2.0","id":1000,"method":"initialize","params":{}}`, `-32601 1000`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var heard []string
				sp := &speller{Server: &mcptest.Server{}, write: func(string) string { return tt.line }, heard: func(m *wire.Message) {
					switch m.Kind {
					case wire.Result:
						heard = append(heard, "result "+string(m.Bytes(m.ID)))
					case wire.Failure:
						heard = append(heard, string(wire.Get(m.Raw, wire.Whole(m.Raw), "error", "code"))+" "+string(m.Bytes(m.ID)))
					}
				}}
				b, s := within(t, toolbox.Options{}, func(int) (wire.Endpoint, error) { return sp, nil })
				if err := b.Open(t.Context(), 10*time.Second); err != nil {
					t.Fatal(err)
				}
				hang(t, s, `{"write":1}`)
				synctest.Wait()
				if got := strings.Join(heard, ", "); got != tt.want {
					t.Errorf("got %.60q, want %.60q", got, tt.want)
				}
			})
		})
	}
}
