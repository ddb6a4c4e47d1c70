package e2e

import (
	"os"
	"testing"

	"github.com/mcp-workbench/workbench/internal/atonce"
	"github.com/mcp-workbench/workbench/test/wiretest"
)

func TestMain(m *testing.M) {
	atonce.Tests(4)
	os.Exit(wiretest.Main(tests{m}, []string{"cmd/workbench"}))
}
