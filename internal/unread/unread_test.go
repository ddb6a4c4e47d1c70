package unread_test

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/unread"
)

// A user who reads nothing has no more kept than the account allows: what is over it is broken off, at once, and nobody
// else misses anything.
func TestWriter(t *testing.T) {
	const size = account.User / 3
	begun := make(chan string, 10)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun <- r.URL.Path
		w = unread.Writer(w, t.Name()+r.URL.Path)
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		_, _ = w.Write(bytes.Repeat([]byte("x"), size))
	}))
	defer srv.Close()
	ask := func(user string) net.Conn {
		c, err := net.Dial("tcp", srv.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if _, err := io.WriteString(c, "GET /"+user+" HTTP/1.0\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		<-begun
		return c
	}
	read := func(c net.Conn) int {
		text, _ := io.ReadAll(c)
		return bytes.Count(text, []byte("x"))
	}
	var slow []net.Conn
	for range 3 {
		slow = append(slow, ask("a"))
		if _, err := io.ReadFull(slow[len(slow)-1], make([]byte, 200<<10)); err != nil { // it is being written
			t.Fatal(err)
		}
	}
	if got := read(ask("a")); got != 0 {
		t.Errorf("got %d bytes beside what is not read, want none", got)
	}
	if got := read(ask("b")); got != size {
		t.Errorf("somebody else got %d bytes, want %d", got, size)
	}
	for _, c := range slow {
		if got := read(c); got == 0 {
			t.Error("what was there first is broken off")
		}
	}
	if got := read(ask("a")); got != size {
		t.Errorf("once all is read: got %d bytes, want %d", got, size)
	}
}
