package httpfront_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/mcp-workbench/workbench/internal/mcptest"
)

// asServer makes the test binary the child process of its own tests: a server of the specs in its arguments.
const asServer = "WORKBENCH_TEST_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) == "" {
		goleak.VerifyTestMain(m)
		return
	}
	server, err := mcptest.New(os.Args[1:]...)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	mcptest.Main(server)
}
