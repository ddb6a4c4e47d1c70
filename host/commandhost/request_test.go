package commandhost

import (
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/toolbox/remote"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// Requests of commands go through the proxy of the environment, as those to remote servers do, and what is answered
// with a redirect is not followed.
func TestRequester(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Location", "http://elsewhere.example/")
		w.WriteHeader(http.StatusFound)
		_, _ = io.WriteString(w, r.Method+" "+r.URL.String()+" "+r.Header.Get("X-Desk")+" "+string(body))
	}))
	defer proxy.Close()
	status, body, err := newRequester(remote.Client([]string{"HTTP_PROXY=" + proxy.URL})).Do(t.Context(), command.HTTPRequest{
		Method: "PUT", URL: "http://shop.example/orders/1", Header: map[string]string{"X-Desk": "books"}, Body: []byte(`{}`), Timeout: time.Minute,
	})
	if want := "PUT http://shop.example/orders/1 books {}"; err != nil || status != http.StatusFound || string(body) != want {
		t.Errorf("got %d %q and error %v, want %d %q", status, body, err, http.StatusFound, want)
	}
}

// A request without an answer says where it went and why, and shows no values.
func TestRequesterUnanswered(t *testing.T) {
	stop := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/long":
			_, _ = w.Write(make([]byte, maxAnswer+1))
		case "/torn":
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "half")
		default:
			select {
			case <-stop:
			case <-r.Context().Done():
			}
		}
	}))
	defer silent.Close()
	defer close(stop)
	gone := httptest.NewServer(nil)
	gone.Close()
	for _, tt := range []struct{ name, url, want string }{
		{"no answer", silent.URL + "/x?key=SECRET", "there was no answer within 50ms; whether the request was carried out is not known"},
		{"too long", silent.URL + "/long?key=SECRET", "the answer is longer than 4194304 bytes"},
		{"torn", silent.URL + "/torn?key=SECRET", "unexpected EOF"},
		{"nobody there", gone.URL + "/x?key=SECRET", "connection refused"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name == "nobody there" && runtime.GOOS == "windows" {
				t.Skip("the words of the system differ")
			}
			q := command.HTTPRequest{Method: "GET", URL: tt.url, Timeout: time.Minute}
			if tt.name == "no answer" {
				q.Timeout = 50 * time.Millisecond
			}
			_, _, err := newRequester(http.DefaultClient).Do(t.Context(), q)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "127.0.0.1:") || strings.Contains(err.Error(), "SECRET") {
				t.Errorf("got %v, want the host, %q and no values", err, tt.want)
			}
		})
	}
}
