package status

import (
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/internal/status"
)

// A file with a fault is seen where the state is.
func TestPictureOfFaultyConfig(t *testing.T) {
	got := picture(new(cli.Environment), []status.Workbench{{Since: time.Now(), ConfigProblem: "c.json:2:3: a fault\nc.json:4:1: another", Front: status.Front{Config: "c.json"}}})
	if want := "  config  it has a fault, and the one before stays in use: c.json:2:3: a fault\n"; !strings.Contains(got, want) {
		t.Errorf("got %q, want a line %q", got, want)
	}
}
