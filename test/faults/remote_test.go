package faults

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

func TestFaultF1_CannotBeReached(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	const nowhere = "http://no-such-host.invalid/mcp"
	unready{
		"refused, http": {entry{"url": closed.URL, "transport": "http"}, []string{"refused"}},
		"refused, sse":  {entry{"url": closed.URL, "transport": "sse"}, []string{"refused"}},
		"no name, http": {entry{"url": nowhere, "transport": "http"}, []string{`the host "no-such-host.invalid" cannot be found`}},
		"no name, sse":  {entry{"url": nowhere, "transport": "sse"}, []string{`the host "no-such-host.invalid" cannot be found`}},
	}.at(t, setup{})
}

// fault is a server that does something in place of answering the call.
func fault(do handling) *badremote { return &badremote{fault: do} }

// A session that the server has forgotten is made anew. What was sent in it is not sent again.
func TestFaultF4_SessionIsGone(t *testing.T) {
	r := new(badremote).serve(t)
	b := newRemoteBed(t, r, setup{})
	r.forget()
	b.fails(b.fault(), `"sick"`, "ended the session", "the request was not carried out, and can be made again")
	b.works()
	if got := r.count("tool fault"); got != 1 {
		t.Errorf("the call came %d times, want once", got)
	}
	if got := r.count("initialize"); got != 2 {
		t.Errorf("got %d sessions, want two", got)
	}
}

func TestFaultF5_TooManyRequests(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ after, text string }{
		"said":        {"1", "asked again in"},
		"not said":    {"", "asked again in"},
		"for an hour": {"3600", "it asked to get no requests for 1h0m0s; it is asked again in"},
		"a date":      {"Mon, 01 Jan 2001 00:00:00 GMT", "asked again in"},
	} {
		t.Run(name, func(t *testing.T) {
			var busy atomic.Bool
			r := fault(func(w http.ResponseWriter, _ *http.Request, r request) {
				if busy.CompareAndSwap(false, true) {
					if tt.after != "" {
						w.Header().Set("Retry-After", tt.after)
					}
					w.WriteHeader(http.StatusTooManyRequests)
					return
				}
				work(w, r, "")
			}).serve(t)
			b := newRemoteBed(t, r, setup{})
			b.fails(b.fault(), `"sick"`, "HTTP 429", tt.text)
			if !eventually(func() bool { return !b.fault().failed }) {
				t.Error("the server was not asked again")
			}
			if got := r.count("tool fault"); got != 2 {
				t.Errorf("the server was asked %d times, want twice: what was refused meanwhile was not to reach it", got)
			}
		})
	}
}

// The error of a server that is broken goes to the caller, whose call is not made again.
func TestFaultF6_Broken(t *testing.T) {
	r := new(badremote).serve(t)
	b := newRemoteBed(t, r, setup{})
	for _, status := range []int{500, 502, 503, 504} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			b := b.in(t)
			r.becomes(func(w http.ResponseWriter, _ *http.Request, _ request) { w.WriteHeader(status) })
			b.fails(b.fault(), `"sick"`, fmt.Sprint("HTTP ", status), "unknown")
			b.works()
			if got := r.count("tool fault"); got != 1 {
				t.Errorf("the call came %d times, want once", got)
			}
		})
	}
}

// Reading a list twice does no harm.
func TestFaultF6_BrokenLists(t *testing.T) {
	var lists atomic.Int32
	r := (&badremote{take: func(w http.ResponseWriter, _ *http.Request, r request) bool {
		broken := r.Method == "tools/list" && lists.Add(1) <= 2
		if broken {
			w.WriteHeader(http.StatusBadGateway)
		}
		return broken
	}}).serve(t)
	b := newRemoteBed(t, r, setup{})
	b.works()
	if got := r.count("initialize"); got != 1 {
		t.Errorf("the server was started %d times, want once", got)
	}
}

// A server that stays broken is left alone, longer and longer.
func TestFaultF6_StaysBroken(t *testing.T) {
	var broken atomic.Bool
	r := (&badremote{take: func(w http.ResponseWriter, _ *http.Request, _ request) bool {
		if broken.Load() {
			w.WriteHeader(http.StatusInternalServerError)
		}
		return broken.Load()
	}}).serve(t)
	b := newRemoteBed(t, r, setup{})
	broken.Store(true)
	const calls = 60
	for range calls {
		b.fails(b.fault(), `"sick"`, "HTTP 500")
	}
	if got := r.count("tool fault"); got != 5 {
		t.Errorf("%d calls of %d came, want five", got, calls)
	}
	b.shows("HTTP 500")
	broken.Store(false)
	b.open() // which has it tried at once
	b.works()
}

// raw writes to the connection of a request, and ends it.
func raw(w http.ResponseWriter, text string, reset bool) {
	conn, out, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	_, _ = out.WriteString("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n" + text)
	_ = out.Flush()
	if tcp, ok := conn.(*net.TCPConn); ok && reset {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

func TestFaultF9_StreamIsCut(t *testing.T) {
	r := new(badremote).serve(t)
	b := newRemoteBed(t, r, setup{})
	for name, tt := range map[string]struct {
		text  string
		reset bool
	}{
		"reset":             {"10\r\nevent: message\nd", true},
		"in a chunk":        {"100\r\nevent: message\ndata: {", false},
		"between chunks":    {"6\r\ndata: \r\n", false},
		"ended, no message": {"6\r\ndata: \r\n0\r\n\r\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			b := b.in(t)
			r.becomes(func(w http.ResponseWriter, _ *http.Request, _ request) { raw(w, tt.text, tt.reset) })
			b.fails(b.fault(), `"sick"`, "the connection was lost before the reply", "unknown")
			b.works()
			if got := r.count("tool fault"); got != 1 {
				t.Errorf("the call came %d times, want once", got)
			}
		})
	}
}

// What a server says when it is asked to go on with a stream that broke off says nothing about the call, which it had
// taken.
func TestFaultF9_StreamIsNotResumed(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusMethodNotAllowed, http.StatusBadRequest, http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusInternalServerError} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			r := (&badremote{take: func(w http.ResponseWriter, req *http.Request, r request) bool {
				if req.Method == http.MethodGet && req.Header.Get("Last-Event-ID") != "" {
					w.Header().Set("Retry-After", "1")
					w.WriteHeader(status)
					return true
				}
				if r.isFault() {
					raw(w, "18\r\nid: 1\nretry: 10\ndata: \n\n\r\n", false)
				}
				return r.isFault()
			}}).serve(t)
			b := newRemoteBed(t, r, setup{})
			got := b.fault()
			b.fails(got, `"sick"`, "the connection was lost before the reply", fmt.Sprintf("HTTP %d", status), "whether the request was carried out is unknown")
			if strings.Contains(got.text, "its url") {
				t.Errorf("got %q, want no advice about the url of a server that was reached", got.text)
			}
			b.works()
			if got := r.count("tool fault"); got != 1 {
				t.Errorf("the call came %d times, want once", got)
			}
		})
	}
}

// An HTTP error may have a JSON-RPC error that names no request as its body: the call gets its words, and whether it was
// carried out is known as for any other HTTP error.
func TestFaultF11_ErrorWithoutAnID(t *testing.T) {
	r := new(badremote).serve(t)
	b := newRemoteBed(t, r, setup{})
	for _, id := range []string{``, `"id":null,`, `"id":"server-error",`} {
		for status, unknown := range map[int]bool{403: false, 400: false, 413: false, 500: true} {
			t.Run(fmt.Sprint(status, id), func(t *testing.T) {
				b := b.in(t)
				r.becomes(func(w http.ResponseWriter, _ *http.Request, _ request) {
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(status)
					_, _ = io.WriteString(w, `{"jsonrpc":"2.0",`+id+`"error":{"code":-32000,"message":"a forbidden thing"}}`)
				})
				got := b.fault()
				b.fails(got, `"sick"`, fmt.Sprintf("HTTP %d", status), "a forbidden thing")
				if strings.Contains(got.text, "unknown") != unknown {
					t.Errorf("got %q, want it unknown whether it was carried out: %v", got.text, unknown)
				}
				b.works()
			})
		}
	}
}

// endless writes a text until the client goes.
func endless(w http.ResponseWriter, req *http.Request, first, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, err := io.WriteString(w, first)
	for err == nil && req.Context().Err() == nil {
		_, err = io.WriteString(w, text)
	}
}

func TestFaultF10_NoReply(t *testing.T) {
	r := new(badremote).serve(t)
	b := newRemoteBed(t, r, setup{})
	page := func(kind, text string) handling {
		return func(w http.ResponseWriter, _ *http.Request, _ request) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, text)
		}
	}
	for name, tt := range map[string]struct {
		do     handling
		pieces []string
	}{
		"event without end": {func(w http.ResponseWriter, req *http.Request, _ request) {
			endless(w, req, "data: ", strings.Repeat("x", 1<<20))
		}, []string{"limit"}},
		"lines without end": {func(w http.ResponseWriter, req *http.Request, _ request) {
			endless(w, req, "", "data: "+strings.Repeat("x", 1<<20)+"\n")
		}, []string{"limit"}},
		"comments without end": {func(w http.ResponseWriter, req *http.Request, _ request) {
			endless(w, req, "", ": "+strings.Repeat("x", 1<<16)+"\n")
		}, []string{"limit", "says nothing"}},
		"document without end": {func(w http.ResponseWriter, req *http.Request, _ request) {
			w.Header().Set("Content-Type", "application/json")
			for req.Context().Err() == nil {
				if _, err := w.Write(bytes.Repeat([]byte(" "), 1<<20)); err != nil {
					return
				}
			}
		}, []string{"limit"}},
		"wrong type":   {page("text/plain", "hello"), []string{"text/plain", "application/json"}},
		"login page":   {page("text/html", "<html>\x1b[2J<h1>Please log in</h1></html>"), []string{"text/html", "a web page is no MCP server", "Please log in"}},
		"no type":      {page("", "hello"), []string{"HTTP 200"}},
		"empty stream": {page("text/event-stream", ""), []string{"the connection was lost before the reply"}},
		"no JSON":      {page("application/json", "hello"), []string{"not a message"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := b.in(t)
			r.becomes(tt.do)
			withinMemory(t, b.PID(), much, func() {
				got := b.fault()
				b.fails(got, append(tt.pieces, `"sick"`)...)
				if strings.ContainsRune(got.text, '\x1b') || len(got.text) > 1000 {
					t.Errorf("got %q, want a short text without escapes of terminals", wiretest.Clip(got.text))
				}
			})
			b.works()
		})
	}
}

// What a server sends beyond its reply is for nobody: the standard library would write it to standard error.
func TestFaultF10_MoreThanAReply(t *testing.T) {
	r := fault(func(w http.ResponseWriter, _ *http.Request, q request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		reply := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"done"}]}}`, q.ID)
		_, _ = fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s%s", len(reply), reply, strings.Repeat("more ", 1000))
	}).serve(t)
	b := newRemoteBed(t, r, setup{})
	b.answers(b.fault(), "done")
	b.wellAnswers()
	if got := b.Stderr(); got != "" {
		t.Errorf("got %q on standard error, want nothing", wiretest.Clip(got))
	}
}

func TestFaultF11_HangsAfterHeaders(t *testing.T) {
	r := new(badremote).serve(t)
	b := newRemoteBed(t, r, setup{sick: entry{"timeouts": entry{"callIdle": "300ms"}}})
	for _, kind := range []string{"application/json", "text/event-stream"} {
		t.Run(kind, func(t *testing.T) {
			b := b.in(t)
			r.becomes(func(w http.ResponseWriter, req *http.Request, _ request) {
				w.Header().Set("Content-Type", kind)
				_ = http.NewResponseController(w).Flush()
				<-req.Context().Done()
			})
			b.fails(b.fault(), `"sick"`, "sent neither reply nor progress for 300ms")
			b.works()
		})
	}
}

// The reply to one request is not taken for that to another, whoever sends it.
func TestFaultF13_ReplyToAnother(t *testing.T) {
	held, let := make(chan string, 1), make(chan struct{})
	r := (&badremote{take: func(w http.ResponseWriter, req *http.Request, r request) bool {
		switch {
		case strings.Contains(string(r.Params.Arguments), "held"):
			held <- string(r.ID)
			select {
			case <-let:
			case <-req.Context().Done():
			}
		case r.isFault():
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, reply(<-held, `{"content":[{"type":"text","text":"forged"}]}`))
			return true
		}
		return false
	}}).serve(t)
	b := newRemoteBed(t, r, setup{})
	first := b.begin("sick", "echo", `{"held":1}`)
	b.fails(b.fault(), `"sick"`, "the reply to another request")
	close(let)
	b.answers(b.outcome(first), `{"held":1}`)
}

// Neither a byte now and then nor progress holds a call open for longer than it may take.
func TestFaultF14_Drips(t *testing.T) {
	r := new(badremote).serve(t)
	b := newRemoteBed(t, r, setup{sick: entry{"timeouts": entry{"callIdle": "500ms", "callTotal": "1500ms"}}})
	drip := func(text string) handling {
		return func(w http.ResponseWriter, req *http.Request, r request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: ")
			for _, c := range []byte(strings.Repeat(text, 1000)) {
				_, _ = w.Write([]byte{c})
				_ = http.NewResponseController(w).Flush()
				select {
				case <-req.Context().Done():
					return
				case <-time.After(10 * time.Millisecond):
				}
			}
		}
	}
	for name, tt := range map[string]struct{ drip, text string }{
		"bytes":    {"x", "sent neither reply nor progress for 500ms"},
		"comments": {"\n\n: x", "sent neither reply nor progress for 500ms"},
	} {
		t.Run(name, func(t *testing.T) {
			b := b.in(t)
			r.becomes(drip(tt.drip))
			b.fails(b.fault(), `"sick"`, tt.text)
			b.works()
		})
	}
	t.Run("progress", func(t *testing.T) {
		b := b.in(t)
		r.becomes(func(w http.ResponseWriter, req *http.Request, r request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for n := 0; req.Context().Err() == nil; n++ {
				fmt.Fprintf(w, `data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`+"\n\n", r.ID, n)
				_ = http.NewResponseController(w).Flush()
				<-time.After(50 * time.Millisecond)
			}
		})
		b.fails(b.fault(), `"sick"`, "did not finish within 1.5s")
		b.works()
	})
}

// A server that was replaced by one of the other era is asked anew which it is of, once.
func TestFaultF17_EraChanges(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		modern bool
		text   string
	}{
		"legacy to modern": {false, "-32022: unsupported"},
		"modern to legacy": {true, `-32000: "no session"`},
	} {
		t.Run(name, func(t *testing.T) {
			r := (&badremote{modern: tt.modern}).serve(t)
			b := newRemoteBed(t, r, setup{})
			b.works()
			r.turn()
			b.fails(b.fault(), tt.text)
			b.works()
			if got := r.count("tool fault"); got != 1 {
				t.Errorf("the call came %d times, want once", got)
			}
		})
	}
	t.Run("it only says so", func(t *testing.T) {
		r := fault(func(w http.ResponseWriter, _ *http.Request, r request) {
			refuse(w, http.StatusBadRequest, string(r.ID), `{"code":-32022,"message":"unsupported","data":{"supported":["2026-07-28"]}}`)
		}).serve(t)
		b := newRemoteBed(t, r, setup{})
		for range 10 {
			b.fails(b.fault(), "-32022: unsupported")
			b.works()
		}
		if got := r.count("initialize"); got != 2 {
			t.Errorf("the server was asked which revision it speaks %d times, want twice", got)
		}
	})
}

func TestFaultF18_Proxies(t *testing.T) {
	t.Parallel()
	t.Run("for remotes", func(t *testing.T) {
		var host atomic.Value
		r := (&badremote{take: func(_ http.ResponseWriter, req *http.Request, _ request) bool {
			host.Store(req.Host)
			return false
		}}).serve(t)
		b := newRemoteBed(t, r, setup{sick: entry{"url": "http://far.invalid/mcp"}, env: []string{"HTTP_PROXY=" + r.URL}})
		b.works()
		if got := host.Load(); got != "far.invalid" {
			t.Errorf("the proxy was asked for %v, want far.invalid", got)
		}
	})
	t.Run("not for this machine", func(t *testing.T) {
		proxy := fault(nil).serve(t)
		r := new(badremote).serve(t)
		b := newRemoteBed(t, r, setup{env: []string{"HTTP_PROXY=" + proxy.URL, "http_proxy=" + proxy.URL, "NO_PROXY="}})
		b.works()
		if got := proxy.count("initialize"); got != 0 {
			t.Errorf("the proxy was asked %d times, want never", got)
		}
	})
}
