package proxy_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/internal/script"
)

// asServer makes the test binary the child process of its own tests: a server of the specs in its arguments and in
// specVariable, which may change without making it another server.
const (
	asServer     = "WORKBENCH_TEST_SERVER"
	specVariable = "WORKBENCH_TEST_SPEC"
)

// asScript makes it the process of a script.
const asScript = "WORKBENCH_TEST_SCRIPT"

func TestMain(m *testing.M) {
	if os.Getenv(asScript) != "" {
		os.Exit(script.Serve(os.Stdin, os.Stdout, time.Minute))
	}
	if os.Getenv(asServer) == "" {
		goleak.VerifyTestMain(m)
		return
	}
	server, err := mcptest.New(append(os.Args[1:], strings.Fields(os.Getenv(specVariable))...)...)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	mcptest.Main(server)
}
