package sdks

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// programs is where TestMain put workbench and, if its modules could be had, gosdk.
const programs = "WORKBENCH_SDKS_PROGRAMS"

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "workbench-sdks-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = os.Setenv(programs, dir)
	}
	if err == nil {
		err = wiretest.Build(dir, "cmd/workbench")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sdks:", err)
		return 1
	}
	build := exec.Command("go", "build", "-C", "gosdk", "-trimpath", "-o", filepath.Join(dir, "gosdk"), ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=readonly")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "sdks: the server of the Go SDK is left out: %v\n%s", err, out)
	}
	return m.Run()
}
