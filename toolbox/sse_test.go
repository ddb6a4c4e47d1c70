package toolbox_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// The first event of the stream says where messages go. It must be of the same origin, or credentials would go where
// the configuration did not send them.
func TestSSEEndpoint(t *testing.T) {
	for _, tt := range []struct {
		name, endpoint string
		want           string // in the cause; "" means that it works
	}{
		{"a path", "/messages?session=session-1", ""},
		{"relative", "messages?session=session-1", ""},
		{"the whole address", "ORIGIN/messages?session=session-1", ""},
		{"another host", "http://127.0.0.2:1/messages", "another origin"},
		{"another port", "http://127.0.0.1:1/messages", "another origin"},
		{"another scheme", "https://HOST/messages", "another origin"},
		{"without a scheme", "//127.0.0.2/messages", "another origin"},
		{"another user", "http://u:p@HOST/messages?session=session-1", ""},
		{"no address", "http://[::1/messages", "not a url"},
		{"nothing", "", "endpoint"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newFarServer(t, &farServer{})
			r.before = func(w http.ResponseWriter, req *http.Request, m *wire.Message) bool {
				if req.Method != http.MethodGet || tt.want == "" && tt.endpoint == "" {
					return false
				}
				at := strings.NewReplacer("ORIGIN", r.URL, "HOST", strings.TrimPrefix(r.URL, "http://")).Replace(tt.endpoint)
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprint(w, "event: hello\ndata: not yet\n\n")
				if at != "" {
					fmt.Fprintf(w, "event: endpoint\ndata: %s\n\n", at)
				}
				if tt.want != "" {
					return true
				}
				s := r.session("")
				all := make(chan string, 100)
				r.mu.Lock()
				s.session = r.fake.Connect(func(msg []byte) { all <- string(msg) })
				r.mu.Unlock()
				r.stream(w, req, all)
				return true
			}
			_, s := r.open(config.TransportSSE, toolbox.Options{})
			st := s.Status()
			if tt.want == "" {
				if st.State != toolbox.Ready {
					t.Errorf("got %s (%v), want ready", st.State, st.Cause)
				}
				return
			}
			if st.State == toolbox.Ready || st.Cause == nil || !strings.Contains(st.Cause.Error(), tt.want) {
				t.Errorf("got %s (%v), want a cause with %q", st.State, st.Cause, tt.want)
			}
			if sent := r.came("POST", ""); len(sent) > 0 {
				t.Errorf("messages were sent: %v", sent)
			}
		})
	}
}

// A server that does not know the session any more, or is broken, is started anew.
func TestSSEStartsAnew(t *testing.T) {
	for status, failures := range map[int]int{http.StatusNotFound: 1, http.StatusInternalServerError: 5} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			var gone atomic.Bool
			r := newFarServer(t, &farServer{})
			r.before = func(w http.ResponseWriter, req *http.Request, m *wire.Message) bool {
				if gone.Load() && req.URL.Query().Get("session") == "session-1" {
					w.WriteHeader(status)
					return true
				}
				return false
			}
			under := &exchanges{RoundTripper: r.Client().Transport}
			r.Client().Transport = under
			_, s := r.open(config.TransportSSE, toolbox.Options{})
			for under.n.Load() > 1 { // beside the stream
				time.Sleep(time.Millisecond)
			}
			gone.Store(true)
			// The POST of an earlier message may be counted only now, as one that went well, and the failures anew after it.
			const late = 3
			failed := 0
			for failed <= failures+late {
				if _, err := callTool(t, s, "echo", "{}"); err == nil {
					break
				}
				failed++
			}
			if failed < failures || failed > failures+late {
				t.Errorf("%d calls failed, want %d and none after that", failed, failures)
			}
		})
	}
}

// exchanges counts the requests of a client whose response is not closed yet.
type exchanges struct {
	http.RoundTripper
	n atomic.Int64
}

func (e *exchanges) RoundTrip(req *http.Request) (*http.Response, error) {
	e.n.Add(1)
	over := sync.OnceFunc(func() { e.n.Add(-1) })
	resp, err := e.RoundTripper.RoundTrip(req)
	if err != nil {
		over()
		return nil, err
	}
	resp.Body = &watchedBody{resp.Body, over}
	return resp, nil
}

type watchedBody struct {
	io.ReadCloser
	over func()
}

func (b *watchedBody) Close() error {
	defer b.over()
	return b.ReadCloser.Close()
}
