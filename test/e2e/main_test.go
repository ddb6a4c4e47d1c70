package e2e

import (
	"os"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

func TestMain(m *testing.M) { os.Exit(wiretest.Main(m, []string{"cmd/workbench"})) }
