package faults

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// programs is the variable that tells the tests where TestMain put the programs.
const programs = "WORKBENCH_FAULTS_PROGRAMS"

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "workbench-faults-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = wiretest.Build(dir, "cmd/workbench", "test/faults/badchild")
	}
	if err == nil {
		err = os.Setenv(programs, dir)
	}
	if err == nil {
		flag.Parse()
		err = flag.Set("test.parallel", "6") // cases spend their time waiting
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		return 1
	}
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, "faults:", err)
			code = 1
		}
	}
	return code
}
