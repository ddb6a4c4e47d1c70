package httpfront_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// overHTTP is an endpoint that speaks to a front over HTTP as a client does: a POST for each message, and a stream for
// what belongs to none. With it, what holds on a stream of lines can be asked of the HTTP front too.
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

// way is a call that is answered in a way of its own.
type way struct {
	tool, arguments string
	meta            string // members of _meta
	answer          string // of the client to what the server asks: a result or error member
	legacy          bool   // it is so only between peers of the legacy era
}

func ways() []way {
	return []way{
		{tool: "echo", arguments: `{ "z":[1e400,-0,1.10,18446744073709551615],"a":"\u0000\ud83d\ude00\/é<&>","":{"a":null,"A":1} }`},
		{tool: "echo", arguments: `{"x":"` + strings.Repeat("y", 1000000) + `"}`},
		{tool: "odd", arguments: `{}`},
		{tool: "big", arguments: `{"n":1000000}`},
		{tool: "iserror", arguments: `{}`},
		{tool: "fail", arguments: `{}`},
		{tool: "progress", arguments: `{"n":3}`, meta: `"progressToken":"tok\u0041"`},
		{tool: "progress", arguments: `{"n":3}`},
		{tool: "say", arguments: `{"say":[{"method":"notifications/message","jsonrpc":"2.0","params":{"data":{"n":1e400},"level":"info"}}]}`, legacy: true},
		{tool: "ask", arguments: `{"ask":{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"z":1,"a":1.0}}}}`, legacy: true,
			answer: `"result":{"action":"accept","content":{"n":9007199254740993}}`},
		{tool: "ask", arguments: `{"ask":{"method":"roots/list"}}`, legacy: true, answer: `"error":{"code":-1,"message":"no","data":[1.0]}`},
		{tool: "nosuch", arguments: `{}`},
	}
}

// Each call brings the same over HTTP as on a stream of lines, where package proxy holds to the byte what that is.
func TestBehavioursOverHTTP(t *testing.T) {
	t.Parallel()
	for _, server := range []string{`"command": "inside"`, `"command": "child"`, `"command": "inside", "args": ["modern"]`} {
		for _, use := range []bool{false, true} {
			for _, modern := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, use_tool %t, modern client %t", server, use, modern), func(t *testing.T) {
					t.Parallel()
					legacyServer := !strings.Contains(server, "modern")
					w := newWeb(t, `{"toolboxes": {"dev": {"open": true, "mcpServers": {"a": {`+server+`}}}}}`, webOptions{})
					want := said(t, w.proxy, modern, use, legacyServer)
					got := said(t, overHTTP{w}, modern, use, legacyServer)
					for i := range want {
						if !slices.Equal(got[i], want[i]) {
							t.Errorf("call %d: got\n%.2000q\nwant\n%.2000q", i, got[i], want[i])
						}
					}
				})
			}
		}
	}
}

// said is what a client is sent because of each of its calls.
func said(t *testing.T, e wire.Endpoint, modern, use, legacyServer bool) (all [][]string) {
	t.Helper()
	came := make(chan string, 1000)
	s := e.Connect(func(msg []byte) { came <- string(msg) })
	defer func() {
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	send := func(id, method, members, metadata string) {
		if modern {
			metadata = meta(strings.TrimSuffix(","+metadata, ","))
		} else {
			metadata = `"_meta":{` + metadata + `}`
		}
		s.Receive([]byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s}}`, id, method, members+metadata)))
	}
	next := func() string {
		select {
		case msg := <-came:
			return msg
		case <-time.After(peerWait):
			t.Fatal("nothing came")
			return ""
		}
	}
	reply := func(id, answer string) (got []string) {
		for {
			msg := next()
			switch _, rest, asks := strings.Cut(msg, `"id":"wb-`); {
			case strings.Contains(msg, "list_changed"):
				continue
			case asks:
				number, _, _ := strings.Cut(rest, `"`)
				s.Receive([]byte(`{"jsonrpc":"2.0","id":"wb-` + number + `",` + answer + `}`))
				msg = strings.Replace(msg, `"id":"wb-`+number+`"`, `"id":ASK`, 1)
			}
			if got = append(got, msg); strings.Contains(msg, `"id":`+id) {
				return got
			}
		}
	}
	if !modern {
		s.Receive([]byte(fmt.Sprintf(strings.Replace(hello, `"id":0`, `"id":"hello"`, 1), "2025-11-25")))
		reply(`"hello"`, "")
		s.Receive([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	}
	send(`"list"`, "tools/list", "", "")
	reply(`"list"`, "")
	for i, c := range ways() {
		if c.legacy && (modern || !legacyServer) {
			continue
		}
		id, members := fmt.Sprintf(`"call %d"`, i), fmt.Sprintf(`"name":"dev__a__%s","arguments":%s,`, c.tool, c.arguments)
		if use {
			members = fmt.Sprintf(`"name":"workbench_use_tool","arguments":{"arguments":%s,"tool_name":%q,"toolbox_name":"dev"},`, c.arguments, c.tool)
		}
		send(id, "tools/call", members, c.meta)
		all = append(all, reply(id, c.answer))
	}
	return all
}
