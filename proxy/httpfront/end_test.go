package httpfront_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/httpfront"
)

// piped is a listener whose one connection is a pipe inside this process, so that a test can stop its clock.
type piped struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p piped) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7777} }

func (p piped) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p piped) Close() error {
	close(p.closed)
	return nil
}

// slow is a server that takes its time to end.
type slow struct{ wire.Endpoint }

func (s slow) Connect(send func([]byte)) wire.Session { return slowSession{s.Endpoint.Connect(send)} }

type slowSession struct{ wire.Session }

func (s slowSession) Close(ctx context.Context) error {
	time.Sleep(1500 * time.Millisecond)
	return s.Session.Close(ctx)
}

// A client that does not read what it is told at the end, and a server that is slow to end, hold up the end side by
// side, not one after the other.
func TestHTTPEndIsOneTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHolder()
		ln := piped{make(chan net.Conn), make(chan struct{})}
		const drain = 10 * time.Second
		w := newWeb(t, oneBox, webOptions{
			http:   httpfront.Options{Drain: drain},
			listen: func() net.Listener { return ln },
			inside: func(p principal.Principal, s config.Server) (wire.Endpoint, error) {
				e, err := h.make(p, s)
				return slow{e}, err
			},
		})
		ours, theirs := net.Pipe()
		defer ours.Close()
		ln.conns <- theirs
		const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hold","arguments":{},"_meta":{"progressToken":1,` +
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},` +
			`"io.modelcontextprotocol/clientCapabilities":{}}}}`
		fmt.Fprintf(ours, "POST /mcp/box HTTP/1.1\r\nHost: 127.0.0.1:7777\r\nContent-Type: application/json\r\n"+
			"Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: hold\r\n"+
			"Content-Length: %d\r\n\r\n%s", len(call), call)
		if line, err := bufio.NewReader(ours).ReadString('\n'); line != "HTTP/1.1 200 OK\r\n" { // and no more is read
			t.Fatalf("got %q, %v", line, err)
		}
		began := time.Now()
		if err := w.stop(); err != nil {
			t.Errorf("Serve: %v", err)
		}
		if took := time.Since(began) - drain; took < time.Second || took > 1750*time.Millisecond {
			t.Errorf("beside the drain time the end took %v, want what the server takes, 1.5s", took)
		}
	})
}
