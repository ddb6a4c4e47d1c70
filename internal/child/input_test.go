//go:build unix

package child_test

import (
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/child"
)

// Whoever waits for the end of an input learns of it, however it comes, and not before.
func TestWaitInput(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("whether a pipe has lost its reader can be told on Linux")
	}
	shell := func(script string) child.Spec {
		return child.Spec{Command: "/bin/sh", Args: []string{"-c", script}}
	}
	for _, tt := range []struct {
		name string
		spec child.Spec
		end  func(t *testing.T, p *child.Process)
	}{
		{"closed by the process", shell("read line; exec <&-; exec sleep 100"), func(t *testing.T, p *child.Process) {
			if _, err := io.WriteString(p.Stdin(), "go\n"); err != nil {
				t.Error(err)
			}
		}},
		{"the process ends", shell("read line"), func(t *testing.T, p *child.Process) {
			if _, err := io.WriteString(p.Stdin(), "go\n"); err != nil {
				t.Error(err)
			}
		}},
		{"stopped", shell("exec sleep 100"), func(t *testing.T, p *child.Process) { stop(t, p, child.Grace{EOF: -1}) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			starts(t, func(t *testing.T, start func(child.Spec) (*child.Process, error)) {
				p := mustStart(t, start, tt.spec)
				ended := make(chan struct{})
				go func() { p.WaitInput(); close(ended) }()
				select {
				case <-ended:
					t.Fatal("the input ended before anything happened")
				case <-time.After(50 * time.Millisecond):
				}
				tt.end(t, p)
				select {
				case <-ended:
				case <-time.After(patience):
					t.Error("nobody was told that the input ended")
				}
			})
		})
	}
}
