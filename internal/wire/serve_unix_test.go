//go:build unix

package wire_test

import (
	"io"
	"os"
	"testing"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// A peer that is gone ends Serve though nothing is sent to it, and though another program keeps the input open.
func TestServePeerGoneInSilence(t *testing.T) {
	t.Parallel()
	in, inW := io.Pipe()
	defer inW.Close()
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer outW.Close()
	served := make(chan error, 1)
	go func() { served <- wire.Serve(t.Context(), in, outW, &echo{}, wire.ServeOptions{}) }()
	outR.Close()
	if err := <-served; err != wire.ErrGone {
		t.Errorf("got %v, want %v", err, wire.ErrGone)
	}
}
