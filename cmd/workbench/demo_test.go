package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/lifetime"
)

// canceller is an output that has its context end with the first step.
type canceller struct{ cancel func() }

func (c canceller) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "1  ") {
		c.cancel()
	}
	return len(p), nil
}

// A demo that is interrupted says so, and names no step as one that failed.
func TestDemo_Interrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	var fault bytes.Buffer
	std := cli.Streams{In: strings.NewReader(""), Out: canceller{func() { cancel(lifetime.SignalError{Signal: os.Interrupt}) }}, Err: &fault}
	code := run(ctx, []string{"demo"}, std, []string{"HOME=" + t.TempDir(), "XDG_RUNTIME_DIR=" + t.TempDir(), "PATH=" + os.Getenv("PATH")})
	if code != 130 || fault.String() != "workbench: interrupted\n" {
		t.Errorf("got exit code %d, %q", code, fault.String())
	}
}
