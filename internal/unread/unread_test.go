package unread_test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/unread"
)

// stuck is a response whose client reads once it is let.
type stuck struct {
	http.ResponseWriter
	begun chan bool
	read  chan struct{}
}

func (s stuck) Write(p []byte) (int, error) {
	s.begun <- true
	<-s.read
	return len(p), nil
}

// A user who reads nothing has no more kept than the account allows: what is over it is broken off, and nobody else
// misses anything.
func TestWriter(t *testing.T) {
	part := make([]byte, account.User/3)
	write := func(user string, w http.ResponseWriter, p []byte) (brokenOff bool) {
		failed := false
		defer func() {
			if brokenOff = recover() == http.ErrAbortHandler; brokenOff != failed {
				t.Errorf("broken off %v, a write failed %v", brokenOff, failed)
			}
		}()
		unread.Serve(w, t.Name()+user, func(w http.ResponseWriter) {
			n, err := w.Write(p)
			failed = n != len(p) || err != nil
		})
		return false
	}
	slow := stuck{httptest.NewRecorder(), make(chan bool), make(chan struct{})}
	var writing sync.WaitGroup
	for range 3 {
		writing.Go(func() {
			if write("a", slow, part) {
				t.Error("what there was room for is broken off")
			}
		})
		<-slow.begun
	}
	if !write("a", httptest.NewRecorder(), part) {
		t.Error("what there was no room for is written")
	}
	if write("a", httptest.NewRecorder(), part[:4<<10]) {
		t.Error("what is brief is broken off")
	}
	if write("b", httptest.NewRecorder(), part[:8<<10]) {
		t.Error("another user is broken off")
	}
	close(slow.read)
	writing.Wait()
	if write("a", httptest.NewRecorder(), part) {
		t.Error("once all is read, a response is broken off")
	}
}

// Handlers reach what is behind the writer.
func TestUnwrap(t *testing.T) {
	w := httptest.NewRecorder()
	unread.Serve(w, "", func(w http.ResponseWriter) {
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
	})
	if !w.Flushed {
		t.Error("it is not flushed")
	}
}
