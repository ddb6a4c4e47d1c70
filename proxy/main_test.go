package proxy_test

import (
	"os"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/atonce"
	"github.com/mcp-workbench/workbench/internal/script"
	"github.com/mcp-workbench/workbench/test/wiretest"
)

// asScript makes the test binary the process of a script.
const asScript = "WORKBENCH_TEST_SCRIPT"

func TestMain(m *testing.M) {
	if os.Getenv(asScript) != "" {
		os.Exit(script.Serve(os.Stdin, os.Stdout, time.Minute))
	}
	atonce.Tests(16)
	os.Exit(wiretest.Main(m, []string{"test/fakeserver"}))
}
