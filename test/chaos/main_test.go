//go:build linux

package chaos

import (
	"fmt"
	"os"
	"testing"

	"github.com/mcp-workbench/workbench/internal/atonce"
	"github.com/mcp-workbench/workbench/test/wiretest"
)

func TestMain(m *testing.M) {
	atonce.Tests(4) // parts spend much of their time waiting
	os.Exit(wiretest.Main(m, []string{"cmd/workbench", "test/faults/badchild"}))
}

// atLength reports whether make chaos asked for all of it.
func atLength() bool { return os.Getenv("WORKBENCH_CHAOS") == "1" }

// times is how often something is done: few times in go test, many times at length.
func times(few, many int) int {
	if atLength() {
		return many
	}
	return few
}

// TestChaos runs at length one after the other what would disturb each other's figures. In go test nobody reads those,
// and what has to be so has to be so beside others too; sessions alone counts what this process has.
func TestChaos(t *testing.T) {
	tab := new(table)
	t.Run("sessions", func(t *testing.T) { sessions(t, tab) })
	if !atLength() {
		t.Parallel()
	}
	t.Run("programs", func(t *testing.T) {
		for _, part := range []struct {
			name string
			run  func(*testing.T, *table)
		}{
			{"memory", memory}, {"ends", ends}, {"crashes", crashes}, {"reloads", reloads}, {"turns", turns}, {"restart", restart},
			{"hanging servers", hanging}, {"hoards", hoards},
		} {
			t.Run(part.name, func(t *testing.T) {
				if !atLength() {
					t.Parallel()
				}
				part.run(t, tab)
			})
		}
	})
	if text := tab.String(); atLength() {
		fmt.Print(text)
	} else {
		t.Log("\n" + text)
	}
}
