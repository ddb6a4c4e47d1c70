//go:build linux

package chaos

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// slowClients has clients over HTTP ask for 16 MiB that they read a kilobyte a second, beside one that reads.
func slowClients(t *testing.T, tab *table) {
	const slow = 16
	p := start(t, map[string]map[string]string{"box": {"well": "well"}}, "--http", "127.0.0.1:0", "--no-token")
	c := &web{address: p.url(t) + "/box", client: &http.Client{Transport: &http.Transport{}}}
	t.Cleanup(func() {
		c.client.CloseIdleConnections()
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
	})
	session := c.begin(t)
	n := times(50, 500)
	calm := c.echoes(t, session, n)
	base := p.weigh()

	over := make(chan struct{})
	for i := range slow {
		conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(c.address, "http://"), "/mcp/box"))
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10) // so that the system does not read in our place
		body := fmt.Sprintf(callEcho, i, strings.Repeat("x", 1<<20))
		request := fmt.Sprintf("POST /mcp/box HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMcp-Session-Id: %s\r\nContent-Length: %d\r\n\r\n%s",
			conn.RemoteAddr(), c.begin(t), len(body), body)
		_, err = io.WriteString(conn, request)
		if err == nil {
			_, err = conn.Read(make([]byte, 1<<10)) // the reply has begun
		}
		if err != nil {
			t.Fatal(err)
		}
		read := meanwhile(func() { sip(conn, over) })
		defer func() {
			<-read
			_ = conn.Close()
		}()
	}
	busy := c.echoes(t, session, n)
	close(over)
	grown(t, tab, fmt.Sprintf("%d clients over HTTP that read 1 KB/s", slow), p, base)
	tab.show("p99 of a client that reads meanwhile", "at most 2 × "+ms(calm.percentile(99)), ms(busy.percentile(99)))
}

// sip reads a kilobyte a second until over is closed.
func sip(r io.Reader, over <-chan struct{}) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	piece := make([]byte, 1<<10)
	for {
		select {
		case <-over:
			return
		case <-tick.C:
			_, _ = r.Read(piece)
		}
	}
}

const callEcho = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"x":%q}}}`

// begin makes a session and returns its id.
func (c *web) begin(t *testing.T) string {
	t.Helper()
	session, _, err := c.send("POST", "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":`+hello+`}`)
	if err == nil {
		_, _, err = c.send("POST", session, fmt.Sprintf(callEcho, 2, "the server runs when this is answered"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// echoes calls n times and returns how long each took.
func (c *web) echoes(t *testing.T, session string, n int) (all durations) {
	t.Helper()
	for i := range n {
		nonce := fmt.Sprintf("n-%d-", i)
		all = append(all, took(func() {
			if _, text, err := c.send("POST", session, fmt.Sprintf(callEcho, i+10, nonce)); err != nil || !strings.Contains(text, nonce) {
				t.Errorf("call %d: got %q, %v", i, text, err)
			}
		}))
	}
	return all
}

// url is where the log says that the program serves.
func (p *program) url(t *testing.T) (url string) {
	t.Helper()
	if !eventually(func() bool {
		log, err := os.Open(filepath.Join(p.folder, "log"))
		if err != nil {
			return false
		}
		defer log.Close()
		for lines := bufio.NewScanner(log); url == "" && lines.Scan(); {
			var line struct{ URL string }
			_ = json.Unmarshal(lines.Bytes(), &line)
			url = line.URL
		}
		return url != ""
	}) {
		t.Fatal("the log has no address")
	}
	return url
}
