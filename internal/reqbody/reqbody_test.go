package reqbody_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/reqbody"
)

// A body is read whole, or the status says why it was not: too long, too late, or broken.
func TestRead(t *testing.T) {
	const most = 1000
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		patience := time.Minute
		if r.URL.Path == "/late" {
			patience = 50 * time.Millisecond
		}
		body, err := reqbody.Read(w, r, "", []byte("x"), most, patience)
		if err != nil {
			http.Error(w, err.Error(), err.Status)
			return
		}
		fmt.Fprint(w, len(body)-1)
	}))
	defer srv.Close()
	long := strings.Repeat("y", most)
	for name, c := range map[string]struct{ path, headers, body, want string }{
		"none":               {"/", "", "", "200 0"},
		"all that may be":    {"/", "Content-Length: 1000", long, "200 1000"},
		"announced too long": {"/", "Content-Length: 1001", "", "413 the body is too long"},
		"too long":           {"/", "Transfer-Encoding: chunked", "3e9\r\n" + long + "y\r\n0\r\n\r\n", "413 the body is too long"},
		"in pieces":          {"/", "Transfer-Encoding: chunked", "2\r\nab\r\n1\r\nc\r\n0\r\n\r\n", "200 3"},
		"broken pieces":      {"/", "Transfer-Encoding: chunked", "zz\r\nab\r\n", "400 the body ends too early, or is not what its headers say"},
		"late":               {"/late", "Content-Length: 5", "abc", "408 the body did not arrive in time"},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", srv.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			headers := "Host: x\r\nConnection: close\r\n"
			if c.headers != "" {
				headers += c.headers + "\r\n"
			}
			if _, err := io.WriteString(conn, "POST "+c.path+" HTTP/1.1\r\n"+headers+"\r\n"+c.body); err != nil {
				t.Fatal(err)
			}
			reply, err := io.ReadAll(conn)
			if err != nil {
				t.Fatal(err)
			}
			head, text, _ := strings.Cut(string(reply), "\r\n\r\n")
			if got := head[len("HTTP/1.1 "):][:3] + " " + strings.TrimSpace(text); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// A user who sends long bodies slowly waits for them, and nobody else does. What waits for too long is refused.
func TestBodiesOfOneUser(t *testing.T) {
	const long = account.Bodies/2 + 1
	patience, begun := make(chan time.Duration, 1), make(chan bool)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		wait := <-patience
		begun <- true
		body, err := reqbody.Read(w, r, t.Name()+r.URL.Path, nil, long, wait)
		if err != nil {
			http.Error(w, err.Error(), err.Status)
			return
		}
		fmt.Fprint(w, len(body))
	}))
	defer srv.Close()
	send := func(user string, n int, wait time.Duration) (body io.WriteCloser, status chan int) {
		patience <- wait
		r, w := io.Pipe()
		status = make(chan int, 1)
		go func() {
			req, err := http.NewRequest(http.MethodPost, srv.URL+"/"+user, r)
			if err != nil {
				t.Error(err)
				return
			}
			req.ContentLength = int64(n)
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Error(err)
				return
			}
			_ = resp.Body.Close()
			status <- resp.StatusCode
		}()
		<-begun
		return w, status
	}
	finish := func(w io.WriteCloser, n int) {
		_, _ = w.Write(make([]byte, n))
		_ = w.Close()
	}
	first, firstEnds := send("a", long, time.Minute)
	_, _ = first.Write(make([]byte, long-1)) // more than connections hold: it is being read
	if _, refused := send("a", long, 50*time.Millisecond); <-refused != http.StatusTooManyRequests {
		t.Error("a second long body was read beside the first")
	}
	for user, n := range map[string]int{"a": 4 << 10, "b": long} {
		body, ends := send(user, n, time.Minute)
		finish(body, n)
		if got := <-ends; got != http.StatusOK {
			t.Errorf("%d bytes of %s beside it: got %d, want 200", n, user, got)
		}
	}
	second, secondEnds := send("a", long, time.Minute)
	finish(first, 1)
	finish(second, long)
	for _, ends := range []chan int{firstEnds, secondEnds} {
		if got := <-ends; got != http.StatusOK {
			t.Errorf("got %d, want 200", got)
		}
	}
}
