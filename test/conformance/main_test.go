package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/mcp-workbench/workbench/test/conformance/fixture"
	"github.com/mcp-workbench/workbench/test/wiretest"
)

// roleVariable makes of the test binary one of the programs that the tests need, "fixture" or "client"; binaryVariable
// tells where workbench is, placesVariable where the clients of one run wait for each other, and clientsVariable how
// many they are.
const (
	roleVariable    = "WORKBENCH_CONFORMANCE_ROLE"
	binaryVariable  = "WORKBENCH_CONFORMANCE_BINARY"
	placesVariable  = "WORKBENCH_CONFORMANCE_PLACES"
	clientsVariable = "WORKBENCH_CONFORMANCE_CLIENTS"
)

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "fixture":
		os.Exit(report(fixture.Main(&fixture.Server{NoLegacy: os.Args[1] == "modern", NoModern: os.Args[1] == "legacy"})))
	case "client":
		os.Exit(m.Run()) // one test of it
	default:
		os.Exit(run(m))
	}
}

func report(err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "conformance:", err)
	return 1
}

// run builds the program once, as it is shipped, for all tests of the package.
func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "workbench-conformance-")
	if err != nil {
		return report(err)
	}
	defer os.RemoveAll(dir)
	if err := wiretest.Build(dir, "cmd/workbench"); err != nil {
		return report(err)
	}
	if err := os.Setenv(binaryVariable, filepath.Join(dir, "workbench")); err != nil {
		return report(err)
	}
	if code := m.Run(); code != 0 {
		return code
	}
	return report(goleak.Find())
}
