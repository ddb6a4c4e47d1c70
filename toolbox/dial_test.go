package toolbox_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// A transport that the configuration knows has a link here.
func TestEveryTransportHasALink(t *testing.T) {
	for _, transport := range config.Transports("") {
		if !toolbox.HasLink(config.Transport(transport)) {
			t.Errorf("the transport %q of the configuration has no row in the table links", transport)
		}
	}
}

// A built-in server that panics while it is made is one that does not start; it is tried again like any other.
func TestBuiltinPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s := within(t, toolbox.Options{}, func(start int) (wire.Endpoint, error) {
			if start == 1 {
				panic("a workflow that nobody thought of")
			}
			return &mcptest.Server{}, nil
		})
		err := b.Open(t.Context(), 50*time.Millisecond)
		if text := s.Status().Explain(); err != nil || !strings.Contains(text, "it could not be made, which is a fault of workbench") {
			t.Errorf("got %v, and %q of the server", err, text)
		}
		time.Sleep(time.Minute)
		if state := s.Status().State; state != toolbox.Ready {
			t.Errorf("the server is %s, want it started again", state)
		}
	})
}
