//go:build !windows

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
)

// Lines of a log that several workbenches and clients share can be told apart.
func TestLogLines(t *testing.T) {
	environ, dir := statusBed(t)
	log := filepath.Join(dir, "log")
	in, send := io.Pipe()
	var out syncBuffer
	served := make(chan int, 1)
	go func() {
		served <- run(t.Context(), []string{"serve", "--log-level", "debug", "--log-file", log}, cli.Streams{In: in, Out: &out, Err: io.Discard}, environ)
	}()
	_, err := io.WriteString(send, greeting+"\n"+`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"workbench_open_toolbox","arguments":{"toolbox_name":"flows"}}}`+"\n")
	do(t, err)
	for end := time.Now().Add(late); !strings.Contains(out.String(), `"id":2`) && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
	}
	do(t, send.Close())
	<-served
	text, err := os.ReadFile(log)
	do(t, err)
	ready := false
	for line := range bytes.Lines(text) {
		var has struct {
			Workbench               int
			Server, Session, Client string
			Message                 string
		}
		if err := json.Unmarshal(line, &has); err != nil || has.Workbench != os.Getpid() {
			t.Errorf("got %s (%v), want a line that says who wrote it", line, err)
		}
		if has.Server != "" && (has.Session != "1" || has.Client != "c") {
			t.Errorf("got %s, want it to say whose server it is", line)
		}
		ready = ready || has.Message == "server ready" && has.Server == "workflow"
	}
	if !ready {
		t.Errorf("got %s, want a line of the server that is ready", text)
	}
}

// Of two clients of a gateway that open the same toolbox at once, each line about a server says whose it is.
func TestLogLinesOfTwoClients(t *testing.T) {
	t.Parallel()
	environ, _ := statusBed(t)
	s := serveForTest(t, environ, "--log-level", "debug", "--no-token")
	var both sync.WaitGroup
	for range 2 {
		w := work(t, s.url, "", "2025-11-25", false)
		both.Go(func() {
			var open mcp.CallToolRequest
			open.Params.Name, open.Params.Arguments = "workbench_open_toolbox", map[string]any{"toolbox_name": "flows"}
			if _, err := w.mcp.CallTool(t.Context(), open); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	ready := make(map[string]bool)
	for end := time.Now().Add(late); len(ready) < 2 && time.Now().Before(end); time.Sleep(5 * time.Millisecond) { // the log is written aside
		for line := range strings.Lines(s.log()) {
			var has struct{ Server, Session, Client, Message string }
			if json.Unmarshal([]byte(line), &has) == nil && has.Server != "" && (has.Client != "worker" || has.Session != "1" && has.Session != "2") {
				t.Fatalf("got %s, want it to say whose server it is", line)
			}
			if has.Message == "server ready" {
				ready[has.Session] = true
			}
		}
	}
	if len(ready) != 2 {
		t.Errorf("got a server ready in the sessions %v, want one in each of two:\n%s", ready, s.log())
	}
}
