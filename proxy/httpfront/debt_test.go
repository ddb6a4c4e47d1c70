package httpfront_test

import (
	"bufio"
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

// A client that asks for much and reads nothing has its own servers wait for it. Where they cannot, because they are
// others' too, what is over the account of the user is left out, with a word. Once
// all is read nothing is charged any more.
func TestFaultG67_AnswersThatNobodyReads(t *testing.T) {
	const size, calls = 6_000_000, 24
	for name, tt := range map[string]struct {
		server    string
		keepAlive time.Duration
		modern    bool
		all       bool // every answer comes whole
	}{
		"own server":            {`"command":"child"`, 0, false, true},
		"own server, modern":    {`"command":"child"`, 0, true, true},
		"shared server":         {`"command":"child","shared":true`, 0, false, false},
		"server in the process": {`"command":"inside"`, 0, true, false},
		"streams":               {`"command":"child"`, time.Millisecond, false, true},
		"streams, modern":       {`"command":"child"`, time.Millisecond, true, true},
		"streams, shared":       {`"command":"child","shared":true`, time.Millisecond, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWeb(t, `{"toolboxes":{"box":{"mcpServers":{"s":{`+tt.server+`}}}}}`, webOptions{http: httpfront.Options{KeepAlive: tt.keepAlive}})
			session := w.begin("/mcp/box", "2025-11-25")
			ask := func(id int) net.Conn {
				body, header := callOf(id, "say", fmt.Sprintf(`{"ms":20,"n":%d}`, size)), []string{session}
				if tt.modern {
					body, header = modernCall(id, "say", fmt.Sprintf(`{"ms":20,"n":%d}`, size), "")
				}
				return w.send("POST", "/mcp/box", body, header...)
			}
			ask(0).Close() // starts the server
			account := httpfront.AccountOf(w.front, principal.Default)
			var conns []net.Conn
			for i := range calls {
				conns = append(conns, ask(i+1))
			}
			waitFor(t, "an answer to be kept", func() bool { return account.Kept() >= size })
			limit := int64(64 << 20)
			if tt.all { // the server waits
				limit = 3 * 8 << 20
				if tt.modern {
					limit = 6 * 8 << 20
				}
			}
			for deadline := time.Now().Add(500 * time.Millisecond); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
				if kept := account.Kept(); kept > limit {
					t.Fatalf("%d bytes were kept, want %d at most", kept, limit)
				}
			}
			texts := make([]string, calls)
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
				case strings.Contains(text, "is left out, because this user has more than 67108864 bytes of answers still to read; what was asked for was carried out"):
					out++
				default:
					t.Errorf("call %d: got %.300s", i+1, text)
				}
			}
			if whole+out != calls || whole < 4 || tt.all && out > 0 {
				t.Errorf("got %d of %d answers, and %d were left out", whole, calls, out)
			}
			w.status("DELETE", "/mcp/box", "", session)
			waitFor(t, "nothing to be charged", func() bool { return account.Kept() == 0 })
		})
	}
}

// send writes a request and returns its connection, from which little is taken that nobody reads.
func (w *web) send(method, path, body string, header ...string) net.Conn {
	w.t.Helper()
	c, err := net.Dial("tcp", w.address)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = c.Close() })
	_ = c.(*net.TCPConn).SetReadBuffer(128 << 10)
	head := []string{method + " " + path + " HTTP/1.1", "Host: " + w.address, "Connection: close", "Content-Type: application/json", "Accept: application/json, text/event-stream", fmt.Sprintf("Content-Length: %d", len(body))}
	if _, err := io.WriteString(c, strings.Join(append(head, header...), "\r\n")+"\r\n\r\n"+body); err != nil {
		w.t.Fatal(err)
	}
	return c
}
