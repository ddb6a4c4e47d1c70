package faults

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/mcp-workbench/workbench/internal/atonce"
	"github.com/mcp-workbench/workbench/test/wiretest"
)

func TestMain(m *testing.M) {
	atonce.Tests(9)         // cases spend their time waiting
	debug.SetGCPercent(400) // the programs need what it saves
	os.Exit(wiretest.Main(m, []string{"cmd/workbench", "test/faults/badchild"}))
}
