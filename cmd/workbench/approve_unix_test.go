//go:build unix

package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
)

// A call of a client that cannot ask waits until workbench approve answers it, from another process.
func TestApproveFromElsewhere(t *testing.T) {
	t.Parallel()
	cmd, fault := started(t, `{"toolboxes": {"box": {"open": true, "mcpServers": {"w": {"builtin": "workflow", "approve": "always"}}}}}`, "serve")
	runs, err := os.MkdirTemp("", "wb") // the path of a socket has a bound
	do(t, err)
	defer os.RemoveAll(runs)
	cmd.Env = append(cmd.Env, "XDG_RUNTIME_DIR="+runs)
	in, err := cmd.StdinPipe()
	do(t, err)
	out := new(syncBuffer)
	cmd.Stdout = out
	do(t, cmd.Start())
	environ := []string{"HOME=" + cmd.Dir, "XDG_RUNTIME_DIR=" + runs}
	approve := func(args ...string) (int, string) {
		both := new(syncBuffer)
		code := run(t.Context(), append([]string{"approve"}, args...), cli.Streams{In: strings.NewReader(""), Out: both, Err: both}, environ)
		return code, both.String()
	}
	await := func(what string, ok func() bool) {
		t.Helper()
		for deadline := time.Now().Add(late); !ok(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s did not come: %s%s", what, out, fault)
			}
		}
	}
	call := func(id string) (waiting string) {
		t.Helper()
		_, err := io.WriteString(in, `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{"name":"box__w__workflow_list","arguments":{"x":"\u202e"}}}`+"\n")
		do(t, err)
		await("the call", func() bool {
			_, text := approve()
			waiting, _, _ = strings.Cut(text, " ")
			return strings.Contains(text, ` from c, for `) && strings.Contains(text, `box/w/workflow_list {"x":"\u202e"}`)
		})
		return waiting
	}
	_, err = io.WriteString(in, greeting+"\n"+`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	do(t, err)
	refused := call("7")
	if code, text := approve("--refuse", refused); code != 0 || text != refused+" refused\n" {
		t.Errorf("got %d and %q", code, text)
	}
	await("the refusal", func() bool { return strings.Contains(out.String(), "the user refused the call of box/w/workflow_list") })
	agreed := call("8")
	if code, text := approve(agreed); code != 0 || text != agreed+" agreed\n" {
		t.Errorf("got %d and %q", code, text)
	}
	await("the result", func() bool { return strings.Contains(out.String(), `"id":8`) })
	if code, text := approve(agreed); code != cli.ExitFault || !strings.Contains(text, "no waiting call") {
		t.Errorf("a second time: got %d and %q", code, text)
	}
	if code, text := approve(); code != 0 || text != "no call waits\n" {
		t.Errorf("got %d and %q", code, text)
	}
	if code, _ := approve("--refuse"); code != cli.ExitUsage {
		t.Errorf("got exit code %d, want %d", code, cli.ExitUsage)
	}
	// What still waits at the end of the client's input holds nothing up.
	call("9")
	do(t, in.Close())
	do(t, cmd.Wait())
	if !strings.Contains(out.String(), "the client disconnected before anybody approved") {
		t.Errorf("got %s, want an answer to the last call", out)
	}
	if left, _ := filepath.Glob(filepath.Join(runs, "*", "*.sock")); len(left) > 0 {
		t.Errorf("got %q left over", left)
	}
}
