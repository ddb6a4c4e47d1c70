package remote_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/toolbox/launch"
	"github.com/mcp-workbench/workbench/toolbox/remote"
)

// A server that wants to be left alone is, also if it answers then what it was asked before.
func TestLeftAlone(t *testing.T) {
	came, goOn := make(chan struct{}), make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			close(came)
			<-goOn
			return
		}
		w.Header().Set("Retry-After", "50")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer srv.Close()
	hiding := new(atomic.Pointer[launch.Hiding])
	hiding.Store(launch.Masking(nil))
	server := remote.New(config.Server{Name: "s", URL: srv.URL}, remote.Options{HTTP: srv.Client(), Hiding: hiding})
	defer server.Close()
	ask := func(path string) error {
		req, err := server.Request(t.Context(), http.MethodPost, srv.URL+path, []byte("{}"))
		if err != nil {
			return err
		}
		resp, err := server.Do(req)
		if err == nil {
			remote.Finish(resp.Body)
		}
		return err
	}
	slow := make(chan error)
	go func() { slow <- ask("/slow") }()
	<-came
	var first, second *remote.StatusError
	if err := ask("/"); !errors.As(err, &first) {
		t.Fatalf("got %v, want the server's refusal", err)
	}
	close(goOn)
	if err := <-slow; err != nil {
		t.Fatal(err)
	}
	if err := ask("/"); !errors.As(err, &second) || second != first {
		t.Errorf("got %v, want the refusal of before, with which the server is left alone", err)
	}
}
