package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/child"
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
			_, _, err := newRequester(nil).Do(t.Context(), q)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "127.0.0.1:") || strings.Contains(err.Error(), "SECRET") {
				t.Errorf("got %v, want the host, %q and no values", err, tt.want)
			}
		})
	}
}

// Programs get their input and environment, and end however they behave.
func TestPrograms(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs of the test are for sh")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	guard := child.NewGuard([]string{self, guardArg})
	defer guard.Close()
	p := programs{&environment{environ: []string{"PATH=" + os.Getenv("PATH"), "HIDDEN=SECRET"}, guard: guard}}
	run := func(ctx context.Context, q command.ProcessRequest) (string, error) {
		out, err := p.Run(ctx, q)
		return string(out), err
	}
	for _, tt := range []struct {
		name    string
		request command.ProcessRequest
		want    string
		err     string // a piece of it
	}{
		{"input, arguments, environment", command.ProcessRequest{Argv: []string{"sh", "-c", `cat; echo "$1 $KEY [$HIDDEN]"`, "sh", "a b; $KEY"}, Env: []string{"KEY=v"}, Stdin: []byte("in ")}, "in a b; $KEY v []\n", ""},
		{"input that nobody reads", command.ProcessRequest{Argv: []string{"sh", "-c", "exec <&-; echo done"}, Stdin: make([]byte, 1<<20)}, "done\n", ""},
		{"it fails", command.ProcessRequest{Argv: []string{"sh", "-c", "echo half; echo no such month >&2; exit 3"}}, "", `exit status 3; its last words: "no such month"`},
		{"it is killed", command.ProcessRequest{Argv: []string{"sh", "-c", "kill -9 $$"}}, "", "killed by signal 9"},
		{"it is not there", command.ProcessRequest{Argv: []string{"no-such-program-here"}}, "", `start "no-such-program-here"`},
		{"it writes without end", command.ProcessRequest{Argv: []string{"sh", "-c", "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done"}, Timeout: time.Minute}, "", errTooMuch.Error()},
		{"it does not end", command.ProcessRequest{Argv: []string{"sh", "-c", "echo begun; sleep 600"}, Timeout: 100 * time.Millisecond}, "", "it did not end within 100ms and was stopped"},
		{"it leaves somebody behind", command.ProcessRequest{Argv: []string{"sh", "-c", "sleep 600 & echo done"}, Timeout: time.Minute}, "done\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := run(t.Context(), tt.request)
			if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("got %q, %v, want %q, %q", got, err, tt.want, tt.err)
			}
		})
	}
	why := errors.New("the turn was given up")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := run(ctx, command.ProcessRequest{Argv: []string{"sh", "-c", "sleep 600"}}); !errors.Is(err, why) {
		t.Errorf("got %v, want the cause of the context", err)
	}
}
