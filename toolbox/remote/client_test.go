package remote_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/toolbox/remote"
)

// pipes listens for the ends of pipes.
type pipes struct {
	ends chan net.Conn
	once sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	if c := <-p.ends; c != nil {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.ends) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// lossy loses what is written to it once it is cut.
type lossy struct {
	net.Conn
	cut atomic.Bool
}

func (c *lossy) Write(b []byte) (int, error) {
	if c.cut.Load() {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

// A connection of HTTP/2 whose other end is gone without a word is given up, and the next request has another.
func TestClientGivesUpDeadConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln := &pipes{ends: make(chan net.Conn)}
		far := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if r.ProtoMajor != 2 {
				t.Errorf("got a request by %s, want HTTP/2", r.Proto)
			}
		}))
		_ = far.Listener.Close()
		far.Listener, far.EnableHTTP2 = ln, true
		far.StartTLS()
		defer far.Close()

		client := remote.Client(nil)
		defer client.CloseIdleConnections()
		transport := client.Transport.(*http.Transport)
		transport.TLSClientConfig = &tls.Config{RootCAs: x509.NewCertPool(), ServerName: "example.com"}
		transport.TLSClientConfig.RootCAs.AddCert(far.Certificate())
		var conns []*lossy
		transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
			near, end := net.Pipe()
			conns = append(conns, &lossy{Conn: near})
			ln.ends <- end
			return conns[len(conns)-1], nil
		}
		ask := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://example.com/mcp", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := client.Do(req)
			if err == nil {
				_ = resp.Body.Close()
			}
			return err
		}
		if err := ask(); err != nil {
			t.Fatal(err)
		}
		conns[0].cut.Store(true)
		if err := ask(); err == nil {
			t.Error("a request on the dead connection succeeded")
		}
		if err := ask(); err != nil {
			t.Errorf("the next request: %v", err)
		}
		if len(conns) != 2 {
			t.Errorf("got %d connections, want 2", len(conns))
		}
		_ = conns[0].Conn.Close()
	})
}

// A proxy that does not connect to a server is told from the server, and what to do is said.
func TestClientProxyRefuses(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
	}))
	defer proxy.Close()
	client := remote.Client([]string{"HTTPS_PROXY=" + proxy.URL})
	_, err := client.Get("https://far.invalid/mcp")
	if err == nil || !strings.Contains(err.Error(), "the proxy answered with HTTP 403 Forbidden") || !strings.Contains(err.Error(), "NO_PROXY") {
		t.Errorf("got %v, want the proxy named, and what to do", err)
	}
	if !remote.IsUndone(err) {
		t.Error("the request is said to be carried out perhaps, want that it was not")
	}
}

// The header of a response is read up to a bound.
func TestClientBoundsHeaders(t *testing.T) {
	for _, modern := range []bool{false, true} {
		far := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for i := range 100 {
				w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 1<<10))
			}
		}))
		far.EnableHTTP2 = modern
		far.StartTLS()
		defer far.Close()
		client := remote.Client(nil)
		defer client.CloseIdleConnections()
		client.Transport.(*http.Transport).TLSClientConfig = far.Client().Transport.(*http.Transport).TLSClientConfig
		if resp, err := client.Get(far.URL); err == nil {
			_ = resp.Body.Close()
			t.Errorf("HTTP/2 %v: a header of %d entries was taken, want an error", modern, len(resp.Header))
		}
	}
}
