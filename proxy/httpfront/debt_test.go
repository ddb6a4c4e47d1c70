package httpfront_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/proxy/httpfront"
)

// With less allowed than otherwise, and connections that hold nothing, a test needs no large messages.
const (
	kept   = 640 << 10
	unread = 80 << 10
	size   = 59_000 // eleven answers are kept, and 5 KB more
)

// newDebtWeb serves one server like that.
func newDebtWeb(t *testing.T, server string, keepAlive time.Duration) (*web, *pipes) {
	ln := newPipes()
	w := newWeb(t, `{"toolboxes":{"box":{"mcpServers":{"s":{`+server+`}}}}}`, webOptions{
		http: httpfront.Options{KeepAlive: keepAlive}, listen: func() net.Listener { return ln }})
	w.front.Allow(kept, unread)
	w.client.Transport = &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) { return ln.dial(), nil }}
	return w, ln
}

// send writes a request and returns its connection.
func (p *pipes) send(t *testing.T, method, path, body string, header ...string) net.Conn {
	t.Helper()
	c := p.dial()
	t.Cleanup(func() { _ = c.Close() })
	head := []string{method + " " + path + " HTTP/1.1", "Host: 127.0.0.1:7777", "Connection: close", "Content-Type: application/json", "Accept: application/json, text/event-stream", fmt.Sprintf("Content-Length: %d", len(body))}
	if _, err := io.WriteString(c, strings.Join(append(head, header...), "\r\n")+"\r\n\r\n"+body); err != nil {
		t.Fatal(err)
	}
	return c
}

// A client that asks for much and reads nothing has its own servers wait for it. Where they cannot, because they are
// others' too, what is over the account of the user is left out, with a word. Once
// all is read nothing is charged any more.
func TestFaultG67_AnswersThatNobodyReads(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		server    string
		keepAlive time.Duration
		modern    bool
		all       bool // every answer comes whole
		calls     int
	}{
		"own server":            {`"command":"child"`, 0, false, true, 6},
		"own server, modern":    {`"command":"child"`, 0, true, true, 10},
		"shared server":         {`"command":"child","shared":true`, 0, false, false, 13},
		"server in the process": {`"command":"inside"`, 0, true, false, 13},
		"streams":               {`"command":"child"`, time.Millisecond, false, true, 6},
		"streams, modern":       {`"command":"child"`, time.Millisecond, true, true, 10},
		"streams, shared":       {`"command":"child","shared":true`, time.Millisecond, false, false, 13},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, ln := newDebtWeb(t, tt.server, tt.keepAlive)
			session := w.begin("/mcp/box", "2025-11-25")
			ask := func(id int) net.Conn {
				body, header := callOf(id, "say", fmt.Sprintf(`{"ms":20,"n":%d}`, size)), []string{session}
				if tt.modern {
					body, header = modernCall(id, "say", fmt.Sprintf(`{"ms":20,"n":%d}`, size), "")
				}
				return ln.send(t, "POST", "/mcp/box", body, header...)
			}
			ask(0).Close() // starts the server
			account := httpfront.AccountOf(w.front, principal.Default)
			var conns []net.Conn
			for i := range tt.calls {
				conns = append(conns, ask(i+1))
			}
			waitFor(t, "an answer to be kept", func() bool { return account.Kept() >= size })
			limit := int64(kept)
			if tt.all { // the server waits
				limit = 3 * unread
				if tt.modern {
					limit = 6 * unread
				}
			}
			for deadline := time.Now().Add(500 * time.Millisecond); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
				if kept := account.Kept(); kept > limit {
					t.Fatalf("%d bytes were kept, want %d at most", kept, limit)
				}
			}
			if !tt.all { // what can be left out is, and no stream is cut off for it
				note := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":%q}}`, strings.Repeat("m", 9000))
				all := w.open("POST", "/mcp/box", callOf(99, "say", `{"say":[`+note+`,`+note+`]}`), session).rest()
				if got := len(all); got == 0 || !strings.Contains(all[got-1], `"said"`) {
					t.Errorf("a stream beside it: got %.300q, want the reply", all)
				}
			}
			texts := make([]string, tt.calls)
			var reading sync.WaitGroup
			for i, c := range conns {
				reading.Go(func() {
					if resp, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil {
						t.Error(err)
					} else if text, err := io.ReadAll(resp.Body); err != nil {
						t.Errorf("call %d: %v", i+1, err)
					} else {
						texts[i] = string(text)
					}
				})
			}
			reading.Wait()
			whole, out := 0, 0
			for i, text := range texts {
				switch id := fmt.Sprintf(`"id":%d,`, i+1); {
				case !strings.Contains(text, id):
					t.Errorf("call %d: got %.200s", i+1, text)
				case len(text) > size:
					whole++
				case strings.Contains(text, "is left out, because this user has more than 655360 bytes of answers still to read; what was asked for was carried out"):
					out++
				default:
					t.Errorf("call %d: got %.300s", i+1, text)
				}
			}
			if whole+out != tt.calls || whole < 4 || tt.all && out > 0 {
				t.Errorf("got %d of %d answers, and %d were left out", whole, tt.calls, out)
			}
			w.status("DELETE", "/mcp/box", "", session)
			waitFor(t, "nothing to be charged", func() bool { return account.Kept() == 0 })
		})
	}
}

// A client that goes away with much unread has nobody wait: its servers answer the next call, and nothing is charged for
// what it will not read.
func TestGoesAwayWithAnswersUnread(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		keepAlive time.Duration
		modern    bool
	}{
		"answers":         {0, false},
		"answers, modern": {0, true},
		"streams":         {time.Millisecond, false},
		"streams, modern": {time.Millisecond, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, ln := newDebtWeb(t, `"command":"child"`, tt.keepAlive)
			session := w.begin("/mcp/box", "2025-11-25")
			call := func(id, n int) (string, []string) {
				if tt.modern {
					return modernCall(id, "say", fmt.Sprintf(`{"ms":20,"n":%d}`, n), "")
				}
				return callOf(id, "say", fmt.Sprintf(`{"ms":20,"n":%d}`, n)), []string{session}
			}
			for i := range 10 {
				body, header := call(i+1, size)
				c := ln.send(t, "POST", "/mcp/box", body, header...)
				if i == 0 { // of this one the answer is being written
					if _, err := io.ReadFull(c, make([]byte, 20_000)); err != nil {
						t.Fatal(err)
					}
				}
				_ = c.Close()
			}
			body, header := call(11, 10)
			if status, text := w.status("POST", "/mcp/box", body, header...); status != http.StatusOK || !strings.Contains(text, "saidxxxxxxxxxx") {
				t.Errorf("the next call: got %d %.300s", status, text)
			}
			waitFor(t, "nothing to be unread", func() bool {
				for _, s := range w.proxy.Status().Sessions {
					if s.Unread != 0 {
						return false
					}
				}
				return true
			})
		})
	}
}

// What a client has read of a stream is not unread any more: one stream may say more than a client may leave unread.
func TestLongStream(t *testing.T) {
	w, _ := newDebtWeb(t, `"command":"child"`, 0)
	session := w.begin("/mcp/box", "2025-11-25")
	const n = 2000 // of a hundred bytes
	m := w.open("POST", "/mcp/box", callOf(1, "progress", fmt.Sprintf(`{"n":%d}`, n)), session)
	all := m.rest()
	if got := len(all); got < n/2 || !strings.Contains(all[got-1], `"id":1`) {
		t.Errorf("got %d messages, the last of which is %.200s, want the result", got, all[got-1])
	}
}

// A client that comes back for an answer has it unread, until it goes again.
func TestComesBackForAnAnswer(t *testing.T) {
	t.Parallel()
	w, ln := newDebtWeb(t, `"command":"child"`, time.Millisecond)
	session := w.begin("/mcp/box", "2025-11-25")
	first := w.open("POST", "/mcp/box", callOf(1, "say", fmt.Sprintf(`{"ms":200,"n":%d}`, size)), session)
	first.close() // it is a stream by now, for its header is there
	unread := func() int64 { return w.proxy.Status().Sessions[0].Unread }
	waitFor(t, "nothing to be unread", func() bool { return unread() == 0 && w.proxy.Status().Sessions[0].InFlight == 0 })
	again := ln.send(t, "GET", "/mcp/box", "", session, "Last-Event-ID: 1-0")
	waitFor(t, "the answer to be unread", func() bool { return unread() > size })
	_ = again.Close()
	waitFor(t, "nothing to be unread again", func() bool { return unread() == 0 })
}

// What the clients of a user have left unread counts for the next ones, until it is gone.
func TestSessionAfterUnreadAnswers(t *testing.T) {
	w, ln := newDebtWeb(t, `"command":"child"`, 0)
	session := w.begin("/mcp/box", "2025-11-25")
	of := httpfront.AccountOf(w.front, principal.Default)
	c := ln.send(t, "POST", "/mcp/box", callOf(1, "say", fmt.Sprintf(`{"n":%d}`, size)), session)
	if _, err := io.ReadFull(c, make([]byte, 20_000)); err != nil {
		t.Fatal(err)
	}
	w.status("DELETE", "/mcp/box", "", session)
	session = w.begin("/mcp/box", "2025-11-25")
	if httpfront.AccountOf(w.front, principal.Default) != of || of.Kept() < size {
		t.Errorf("%d bytes are kept in the account before, want it to be the same", of.Kept())
	}
	w.status("DELETE", "/mcp/box", "", session)
	_ = c.Close()
	waitFor(t, "nothing to be charged", func() bool { return of.Kept() == 0 })
	w.front.Sweep(time.Now())
	w.begin("/mcp/box", "2025-11-25")
	if httpfront.AccountOf(w.front, principal.Default) == of {
		t.Error("the account stays for ever")
	}
}
