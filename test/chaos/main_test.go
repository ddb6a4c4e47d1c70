//go:build linux

package chaos

import (
	"fmt"
	"os"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

func TestMain(m *testing.M) {
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

// TestChaos runs one after the other what would disturb each other's figures.
func TestChaos(t *testing.T) {
	tab := new(table)
	t.Run("ends", func(t *testing.T) { ends(t, tab) })
	t.Run("crashes", func(t *testing.T) { crashes(t, tab) })
	t.Run("reloads", func(t *testing.T) { reloads(t, tab) })
	t.Run("turns", func(t *testing.T) { turns(t, tab) })
	t.Run("restart", func(t *testing.T) { restart(t, tab) })
	t.Run("hanging servers", func(t *testing.T) { hanging(t, tab) })
	t.Run("memory", func(t *testing.T) { memory(t, tab) })
	t.Run("hoards", func(t *testing.T) { hoards(t, tab) })
	t.Run("sessions", func(t *testing.T) { sessions(t, tab) })
	if text := tab.String(); atLength() {
		fmt.Print(text)
	} else {
		t.Log("\n" + text)
	}
}
