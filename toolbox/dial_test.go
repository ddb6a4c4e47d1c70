package toolbox_test

import (
	"testing"

	"github.com/mcp-workbench/workbench/config"
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
