package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// Requests of commands go through the proxy of the environment, as those to
// remote servers do, and what is answered with a redirect is not followed.
func TestRequester(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Location", "http://elsewhere.example/")
		w.WriteHeader(http.StatusFound)
		_, _ = io.WriteString(w, r.Method+" "+r.URL.String()+" "+r.Header.Get("X-Desk")+" "+string(body))
	}))
	defer proxy.Close()
	status, body, err := newRequester([]string{"HTTP_PROXY=" + proxy.URL}).Do(t.Context(), command.HTTPRequest{
		Method: "PUT", URL: "http://shop.example/orders/1", Header: map[string]string{"X-Desk": "books"}, Body: []byte(`{}`), Timeout: time.Minute,
	})
	if want := "PUT http://shop.example/orders/1 books {}"; err != nil || status != http.StatusFound || string(body) != want {
		t.Errorf("got %d %q and error %v, want %d %q", status, body, err, http.StatusFound, want)
	}
}
