package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/internal/status"
)

// statusBed is an environment with a folder for sockets and a configuration of one server that works and one that
// cannot.
func statusBed(t *testing.T) (environ []string, dir string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "wb") // t.TempDir has long paths
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	config := filepath.Join(dir, "c.json")
	text := `{"toolMode": "proxy", "toolboxes": {"flows": {"mcpServers": {
		"workflow": {"builtin": "workflow"},
		"broken": {"command": "x", "env": {"T": "${NOT_SET}"}}}}}}`
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"XDG_RUNTIME_DIR=" + dir, "XDG_STATE_HOME=" + filepath.Join(dir, "state"), "WORKBENCH_CONFIG=" + config}, dir
}

// watched runs status --watch and hands its lines on.
func watched(t *testing.T, environ []string, args ...string) <-chan string {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	read, write := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		code := run(ctx, append([]string{"status", "--watch"}, args...), cli.Streams{In: strings.NewReader(""), Out: write, Err: io.Discard}, environ)
		_ = write.Close()
		ended <- code
	}()
	lines := make(chan string, 1000) // more than come
	go func() {
		defer close(lines)
		for in := bufio.NewScanner(read); in.Scan(); {
			lines <- in.Text()
		}
	}()
	t.Cleanup(func() {
		stop()
		if code := <-ended; code != cli.ExitDone {
			t.Errorf("status --watch ended with %d, want 0", code)
		}
	})
	return lines
}

// until waits for a line that is wanted.
func until(t *testing.T, lines <-chan string, want func(string) bool) string {
	t.Helper()
	late := time.After(2 * time.Minute)
	var seen []string
	for {
		select {
		case line, ok := <-lines:
			if !ok {
				t.Fatalf("it ended; it had printed %q", seen)
			}
			if want(line) {
				return line
			}
			seen = append(seen, line)
		case <-late:
			t.Fatalf("the line did not come; it had printed %q", seen)
		}
	}
}

// A workbench on standard input and output is seen with its client, its servers and their calls, by every form of the
// command, and its end is.
func TestStatus(t *testing.T) {
	t.Parallel()
	environ, dir := statusBed(t)
	lines, documents := watched(t, environ), watched(t, environ, "--json")
	in, send := io.Pipe()
	served := make(chan int, 1)
	go func() {
		served <- run(context.Background(), []string{"serve", "--log-level", "off"}, cli.Streams{In: in, Out: io.Discard, Err: io.Discard}, environ)
	}()
	for _, msg := range []string{greeting, `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"workbench_open_toolbox","arguments":{"toolbox_name":"flows"}}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"workbench_use_tool","arguments":{"toolbox_name":"flows","tool_name":"workflow_list"}}}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"workbench_use_tool","arguments":{"toolbox_name":"flows","tool_name":"workflow_get","arguments":{"id":"none-such"}}}}`} {
		if _, err := io.WriteString(send, msg+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	var w status.Workbench
	until(t, documents, func(line string) bool {
		var l status.List
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("not a document: %v: %s", err, line)
		}
		if len(l.Workbenches) != 1 {
			return false
		}
		w = l.Workbenches[0]
		return len(w.Calls) == 1 && w.Calls[0].All() == 2
	})
	if w.PID != os.Getpid() || w.Config == "" || len(w.Sessions) != 1 || w.Sessions[0].Client != "c" || w.Sessions[0].Revision != "2025-11-25" {
		t.Errorf("got %+v, want this process and its one client", w)
	}
	if c := w.Calls[0]; c.OK != 1 || c.ToolError != 1 {
		t.Errorf("got %+v, want one call that went well and one whose tool failed", c)
	}
	states := make(map[string]status.Server)
	for _, srv := range w.Servers() {
		states[srv.Name] = *srv
	}
	if s := states["workflow"]; s.State != "ready" || s.Tools == 0 || s.Era == "" || s.Advice != "" {
		t.Errorf("got %+v, want a server that is ready", s)
	}
	if s := states["broken"]; s.State != "failed" || !strings.Contains(s.Cause, "NOT_SET") || s.Advice == "" {
		t.Errorf("got %+v, want one that failed, with cause and advice", s)
	}
	for _, want := range []string{"serves standard input", "flows/broken failed: ", "flows/workflow ready"} {
		until(t, lines, func(line string) bool { return strings.Contains(line, want) })
	}

	var out bytes.Buffer
	if code := run(t.Context(), []string{"status"}, cli.Streams{In: strings.NewReader(""), Out: &out, Err: io.Discard}, environ); code != cli.ExitDone {
		t.Errorf("status ended with %d, want 0", code)
	}
	if bad, good := strings.Index(out.String(), "failed"), strings.Index(out.String(), "ready"); bad < 0 || good < bad {
		t.Errorf("got\n%s\nwant first what failed, then what is ready", &out)
	}
	for line := range strings.Lines(out.String()) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 && !strings.Contains(line, w.Config) {
			t.Errorf("a line of %d characters, want at most 80: %s", n, line)
		}
	}

	_ = send.Close()
	if code := <-served; code != cli.ExitDone {
		t.Errorf("serve ended with %d, want 0", code)
	}
	until(t, lines, func(line string) bool { return strings.HasSuffix(line, " ended") })
	if left, _ := filepath.Glob(filepath.Join(dir, "workbench", "*.sock")); left != nil {
		t.Errorf("the sockets %q are left", left)
	}
}

// Metrics are on the HTTP front for those who have the token, and on the socket.
func TestMetrics(t *testing.T) {
	t.Parallel()
	environ, dir := statusBed(t)
	lines := watched(t, environ)
	s := serveForTest(t, environ)
	until(t, lines, func(line string) bool { return strings.Contains(line, "serves "+s.url) })

	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	url := strings.TrimSuffix(s.url, "/mcp") + "/metrics"
	if got, _ := fetch(t, client, url, ""); got != http.StatusUnauthorized {
		t.Errorf("without the token: got %d, want 401", got)
	}
	var token bytes.Buffer
	if code := run(t.Context(), []string{"token"}, cli.Streams{In: strings.NewReader(""), Out: &token, Err: io.Discard}, environ); code != cli.ExitDone {
		t.Fatalf("workbench token ended with %d", code)
	}
	got, text := fetch(t, client, url, strings.TrimSpace(token.String()))
	if got != http.StatusOK || !strings.Contains(text, fmt.Sprintf("workbench_info{version=%q} 1", cli.Version())) || !strings.Contains(text, "go_goroutines ") {
		t.Errorf("got %d %.300s, want metrics of workbench and of the process", got, text)
	}

	socket := filepath.Join(dir, "workbench", fmt.Sprint(os.Getpid(), ".sock"))
	client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	if got, text := fetch(t, client, "http://workbench/metrics", ""); got != http.StatusOK || !strings.Contains(text, "workbench_sessions 0") {
		t.Errorf("on the socket: got %d %.300s, want metrics", got, text)
	}
}

func fetch(t *testing.T, client *http.Client, url, token string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return answer(t, client, req)
}

// What is watched begins with the workbenches that run, or with none if none does, whatever those that were killed left
// behind.
func TestStatusWatchBegins(t *testing.T) {
	t.Parallel()
	first := func(environ []string) (list status.List) {
		line := until(t, watched(t, environ, "--json"), func(string) bool { return true })
		if err := json.Unmarshal([]byte(line), &list); err != nil {
			t.Fatalf("not a document: %v: %s", err, line)
		}
		return list
	}
	environ, dir := statusBed(t)
	if err := os.Mkdir(filepath.Join(dir, "workbench"), 0o700); err != nil {
		t.Fatal(err)
	}
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "workbench", "1.sock"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	_ = dead.Close()
	if list := first(environ); len(list.Workbenches) != 0 {
		t.Errorf("got %+v, want none", list)
	}

	lines := watched(t, environ)
	s := serveForTest(t, environ)
	until(t, lines, func(line string) bool { return strings.Contains(line, "serves "+s.url) })
	if list := first(environ); len(list.Workbenches) != 1 {
		t.Errorf("got %+v first, want the one that runs", list)
	}
}

// A reader that has enough, as head, is not told that it did not read the rest.
func TestOutputUnread(t *testing.T) {
	environ, _ := statusBed(t)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer write.Close()
	_ = read.Close()
	var fault bytes.Buffer
	if code := run(t.Context(), []string{"status"}, cli.Streams{In: strings.NewReader(""), Out: write, Err: &fault}, environ); code != cli.ExitFault || fault.Len() > 0 {
		t.Errorf("got the exit code %d and %q, want 1 and nothing", code, &fault)
	}
}
