//go:build !windows

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
