package conformance

import (
	"fmt"
	"os"
	"testing"

	"github.com/mcp-workbench/workbench/internal/atonce"
	"github.com/mcp-workbench/workbench/test/conformance/fixture"
	"github.com/mcp-workbench/workbench/test/wiretest"
)

// roleVariable makes of the test binary one of the programs that the tests need, "fixture" or "client"; placesVariable
// tells where the clients of one run wait for each other, and clientsVariable how many they are.
const (
	roleVariable    = "WORKBENCH_CONFORMANCE_ROLE"
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
		atonce.Tests(4)
		os.Exit(wiretest.Main(tests{m}, []string{"cmd/workbench"}))
	}
}

func report(err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "conformance:", err)
	return 1
}
