package workflowhost

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/mcp-workbench/workbench/workflowsrv"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

// Requests for runs are told the same whether a run waits for them or not, and a flood of them is worked off.
func TestHookDoor(t *testing.T) {
	const hooked = `{"id":"hooked","name":"Hooked","description":"d","version":"1.0.0","steps":[{"id":"build","type":"wait","title":"Build","webhook":true,"timeoutSeconds":0.1}]}`
	server := workflowsrv.New(workflowsrv.Options{Gateway: "http://127.0.0.1:1", Sources: []definition.Source{{Origin: definition.Embedded, FS: fstest.MapFS{"hooked.json": {Data: []byte(hooked)}}}}})
	host := New(Options{})
	host.made[""] = server
	door := httptest.NewServer(host.Hooks())
	defer door.Close()
	who := runs.Caller{Principal: "alice"}
	if a, err := server.Runs().Start(t.Context(), who, "hooked", "", nil); err != nil || !strings.Contains(string(a.Data), `"state":"person"`) {
		t.Fatalf("got %s and %v, want a person asked at once, since the time is short", a.Data, err)
	}
	send := func(method, path, body string) int {
		r, err := http.NewRequestWithContext(t.Context(), method, door.URL+path, strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return 0
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Error(err)
			return 0
		}
		defer resp.Body.Close()
		return resp.StatusCode
	}
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() {
			if code := send(http.MethodPost, "/hooks/run-abc."+strings.Repeat("a", 26), "{}"); code != http.StatusAccepted {
				t.Errorf("got %d for a path that nobody waits at, want %d", code, http.StatusAccepted)
			}
		})
	}
	all.Wait()
	list, err := server.Runs().List(t.Context(), "alice", 1)
	if err != nil || len(list) != 1 {
		t.Fatalf("got %d runs and %v, want one", len(list), err)
	}
	r, err := server.Runs().Read(t.Context(), "alice", list[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(r.Events, func(e runs.Event) bool { return e.Hook != "" })
	if code := send(http.MethodPost, runs.HookPath+r.ID+"."+r.Events[i].Hook, "{}"); code != http.StatusAccepted {
		t.Errorf("got %d for the path that the run waits at, want %d", code, http.StatusAccepted)
	}
	if r, err = server.Runs().Read(t.Context(), "alice", r.ID); err != nil || r.Done != 1 {
		t.Errorf("got %+v and %v, want the step done, also if the person was asked already", r.Head, err)
	}
	for _, tt := range []struct {
		method, path, body string
		want               int
	}{
		{http.MethodGet, "/hooks/run-abc.x", "", http.StatusMethodNotAllowed},
		{http.MethodPost, "/hooks/", "x", http.StatusAccepted},
		{http.MethodPost, "/hooks/../../etc/passwd", "x", http.StatusAccepted},
		{http.MethodPost, "/hooks/run-abc.x", strings.Repeat("x", 65537), http.StatusRequestEntityTooLarge},
	} {
		if code := send(tt.method, tt.path, tt.body); code != tt.want {
			t.Errorf("%s %s: got %d, want %d", tt.method, tt.path, code, tt.want)
		}
	}
}

// Whoever sends no more than the beginning of a request takes no place from others.
func TestSlowHooks(t *testing.T) {
	host := New(Options{})
	host.made[""] = workflowsrv.New(workflowsrv.Options{})
	door := httptest.NewServer(host.Hooks())
	t.Cleanup(door.Close)
	slow := make([]net.Conn, 4*maxHooks)
	for i := range slow {
		conn, err := net.Dial("tcp", door.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "POST /hooks/x.y HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		slow[i] = conn
	}
	resp, err := http.Post(door.URL+"/hooks/x.y", "", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusAccepted {
		t.Errorf("got %s, want it taken", resp.Status)
	}
	for _, conn := range slow {
		_ = conn.SetReadDeadline(time.Now().Add(time.Millisecond))
		if n, err := conn.Read(make([]byte, 1)); n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("got %d bytes and %v for a request that is not there yet: the other one waited for it", n, err)
		}
	}
}
