package httpfront_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/internal/syserr"
	"github.com/mcp-workbench/workbench/proxy/httpfront"
)

// pipes is a listener within this process, so that time can be made to pass.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7777} }

func (p *pipes) dial() net.Conn {
	here, there := net.Pipe()
	p.conns <- there
	return here
}

// newPipeWeb serves on pipes.
func newPipeWeb(t *testing.T, opts webOptions) (*web, *pipes) {
	ln := newPipes()
	opts.listen = func() net.Listener { return ln }
	w := newWeb(t, `{"toolboxes":{"box":{"mcpServers":{"s":{"command":"inside","timeouts":{"callIdle":"5h","callTotal":"5h"}}}}}}`, opts)
	w.client.Transport = &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) { return ln.dial(), nil }}
	return w, ln
}

// Whoever is slow to say what it wants is not waited for.
func TestFaultC6_SlowClients(t *testing.T) {
	head := "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:7777\r\nContent-Type: application/json\r\nAccept: */*\r\nContent-Length: 100\r\n"
	for _, tt := range []struct {
		name, text string
		within     time.Duration
		want       string
	}{
		{"nothing at all", "", 11 * time.Second, ""},
		{"a header that goes on and on", head, 11 * time.Second, ""},
		{"a body that does not end", head + "\r\n{", 16 * time.Second, "HTTP/1.1 408 "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, ln := newPipeWeb(t, webOptions{})
				c := ln.dial()
				var writing sync.WaitGroup
				defer writing.Wait()
				defer c.Close()
				began := time.Now()
				writing.Go(func() {
					_, _ = io.WriteString(c, tt.text)
					for {
						time.Sleep(3 * time.Second)
						if _, err := io.WriteString(c, "X"); err != nil {
							return
						}
					}
				})
				got, _ := io.ReadAll(c)
				if took := time.Since(began); took > tt.within {
					t.Errorf("it was let go after %s, want %s", took, tt.within)
				}
				if !strings.HasPrefix(string(got), tt.want) {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			})
		})
	}
}

// Sessions end when nobody uses them; an open stream and a call under way are use, and so is the call of a client that
// has gone.
func TestFaultC14_IdleSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHolder()
		w, _ := newPipeWeb(t, webOptions{inside: h.make})
		unused, listening, calling, left := w.begin("/mcp/box", "2025-11-25"), w.begin("/mcp/box", "2025-11-25"), w.begin("/mcp/box", "2025-11-25"), w.begin("/mcp/box", "2025-11-25")
		w.forever("GET", "/mcp/box", "", listening).drain()
		call := w.forever("POST", "/mcp/box", callOf(1, "hold", "{}"), calling)
		call.want("notifications/progress")
		call.drain()
		gone := w.forever("POST", "/mcp/box", callOf(1, "hold", "{}"), left)
		gone.want("notifications/progress")
		gone.close()

		time.Sleep(29 * time.Minute)
		if got, body := w.status("POST", "/mcp/box", ping, unused); got != 200 {
			t.Errorf("a session used 29 minutes ago: got %d %s, want 200", got, body)
		}
		time.Sleep(31*time.Minute + sweep)
		for name, tt := range map[string]struct {
			session string
			want    int
		}{"unused": {unused, 404}, "listening": {listening, 200}, "calling": {calling, 200}, "left": {left, 200}} {
			if got, body := w.status("POST", "/mcp/box", ping, tt.session); got != tt.want {
				t.Errorf("%s: got %d %s, want %d", name, got, body, tt.want)
			}
		}
	})
}

// sweep is how late a session may be found idle.
const sweep = 2 * time.Minute

// A program that was stopped for hours, or that got no processor, has heard nobody meanwhile: whoever calls as soon as
// it goes on still has their session.
func TestHTTPSessionsOfAStoppedProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := newPipeWeb(t, webOptions{inside: newHolder().make})
		session := w.begin("/mcp/box", "2025-11-25")
		later := time.Now().Add(5 * time.Hour)
		for sweeps, want := range []int{200, 200, 404} {
			synctest.Wait() // the request before is over
			for range sweeps {
				w.front.Sweep(later)
			}
			if got, body := w.status("POST", "/mcp/box", ping, session); got != want {
				t.Errorf("got %d %s, want %d", got, body, want)
			}
		}
	})
}

// The session that modern clients share ends after its own time, and the next request has a new one.
func TestHTTPIdleModern(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ends := make(chan string, 10)
		w, _ := newPipeWeb(t, webOptions{inside: watchedServers(ends)})
		body, header := modernCall(1, "echo", "{}", "")
		use := func() {
			t.Helper()
			if got, text := w.status("POST", "/mcp/box", body, header...); got != 200 || !strings.Contains(text, `"text":"{}"`) {
				t.Errorf("got %d %s", got, text)
			}
		}
		use()
		time.Sleep(14 * time.Minute)
		use()
		time.Sleep(14 * time.Minute)
		if len(ends) != 0 {
			t.Error("the server was stopped while it was in use")
		}
		m := w.forever("POST", "/mcp/box", fmt.Sprintf(listen, meta("")), listenHeader()...)
		m.want("acknowledged")
		m.drain()
		time.Sleep(time.Hour)
		if len(ends) != 0 {
			t.Error("the server was stopped while a subscription was open")
		}
		m.close()
		time.Sleep(15*time.Minute + sweep)
		if len(ends) != 1 {
			t.Errorf("%d servers were stopped, want the one", len(ends))
		}
		use()
	})
}

// A quiet stream shows signs of life, and a reply that is long in coming becomes a stream.
func TestHTTPKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHolder()
		w, _ := newPipeWeb(t, webOptions{inside: h.make})
		session := w.begin("/mcp/box", "2025-06-18")
		m := w.forever("POST", "/mcp/box", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hold"}}`, session)
		defer m.close()
		if got := m.resp.Header.Get("Content-Type"); got != "text/event-stream" {
			t.Fatalf("after 15 s: got %q, want a stream", got)
		}
		for range 3 {
			began := time.Now()
			if line, err := m.r.ReadString('\n'); err != nil || !strings.HasPrefix(line, ":") || time.Since(began) > 16*time.Second {
				t.Fatalf("got %q and error %v after %s, want a comment within 15 s", line, err, time.Since(began))
			}
			_, _ = m.r.ReadString('\n')
		}
		h.release <- struct{}{}
		m.want(`"id":1`, "let go")
	})
}

// Connections beyond the limit wait, which is said once; the others are served.
func TestHTTPConnectionLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log syncBuffer
		_, ln := newPipeWeb(t, webOptions{log: &log, http: httpfront.Options{MaxConns: 2}})
		one, two := ln.dial(), ln.dial()
		defer two.Close()
		third := make(chan net.Conn)
		go func() { third <- ln.dial() }()
		synctest.Wait()
		select {
		case <-third:
			t.Error("a third connection was accepted")
		default:
		}
		_ = one.Close()
		c := <-third
		_ = c.Close()
		ln.dial().Close()
		synctest.Wait()
		const said = `"level":"warn","err":"2 connections are open, which are as many as are taken"`
		if got := log.String(); strings.Count(got, said) != 1 {
			t.Errorf("the log says\n%swant %s once", got, said)
		}
	})
}

// starved is a listener that has no descriptors for a while.
type starved struct {
	net.Listener
	fails atomic.Int32
}

func (l *starved) Accept() (net.Conn, error) {
	if l.fails.Add(-1) >= 0 {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	return l.Listener.Accept()
}

// A connection that could not be accepted is accepted when it can be, and takes no room from others. Whoever runs the
// gateway is told what to do, once.
func TestFaultC16_NoDescriptors(t *testing.T) {
	var log syncBuffer
	w := newWeb(t, oneBox, webOptions{log: &log, http: httpfront.Options{MaxConns: 1}, listen: func() net.Listener {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		l := &starved{Listener: ln}
		l.fails.Store(4)
		return l
	}})
	session := w.begin("/mcp/box", "2025-11-25")
	if got, text := w.status("POST", "/mcp/box", callOf(1, "echo", `{"n":1}`), session); got != 200 || !strings.Contains(text, `"n":1`) && !strings.Contains(text, `\"n\":1`) {
		t.Errorf("got %d %s, want the reply", got, text)
	}
	if n := strings.Count(log.String(), "(ulimit -n)"); n != 1 && syserr.IsNoFiles(syscall.EMFILE) {
		t.Errorf("the limit was named %d times, want once, in\n%s", n, log.String())
	}
}

// A client that does not read its stream, or has none, does not hold up the server, and gets a bounded part of what it
// missed when it comes back.
func TestFaultC8_SlowReader(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		there bool
		most  int
	}{
		"there, reading nothing": {true, 9 << 20}, // what a reader may have before it
		"not there":              {false, 256 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWeb(t, oneBox, webOptions{})
			session := w.begin("/mcp/box", "2025-11-25")
			leave := func() {}
			if tt.there {
				leave = w.open("GET", "/mcp/box", "", session).close
			}
			line := strings.Repeat("x", 64<<10)
			say := fmt.Sprintf(`{"say":[%s]}`, strings.TrimSuffix(strings.Repeat(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":%q}},`, line), 50), ","))
			w.status("POST", "/mcp/box", `{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"add_tool","arguments":{"text":"t"}}}`, session)
			for i := range 8 { // 25 MiB in all, of which the connection itself takes some
				if got, body := w.status("POST", "/mcp/box", callOf(i+1, "say", say), session); got != 200 {
					t.Fatalf("got %d %.200s", got, body)
				}
			}
			again := w.open("GET", "/mcp/box", "", session, "Last-Event-ID: 0-0")
			leave() // not before: then it is not there any more
			w.status("DELETE", "/mcp/box", "", session)
			size := 0
			for _, msg := range again.rest() {
				size += len(msg)
			}
			if size < 64<<10 || size > tt.most {
				t.Errorf("%d bytes were kept for it, want some, and %d at most", size, tt.most)
			}
		})
	}
}
