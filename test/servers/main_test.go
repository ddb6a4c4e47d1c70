package servers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

const (
	// runVariable switches the test on.
	runVariable = "WORKBENCH_SERVERS"
	// binaryVariable tells the test where TestMain put the program.
	binaryVariable = "WORKBENCH_SERVERS_BINARY"
)

// TestMain builds the program once, as it is shipped.
func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if os.Getenv(runVariable) != "1" {
		return m.Run() // nothing but skipping
	}
	dir, err := os.MkdirTemp("", "workbench-servers-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "servers:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "workbench")
	build := exec.Command("go", "build", "-trimpath", "-o", binary, "./cmd/workbench")
	build.Dir = filepath.Join("..", "..")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "servers: build the program:", err)
		return 1
	}
	if err := os.Setenv(binaryVariable, binary); err != nil {
		fmt.Fprintln(os.Stderr, "servers:", err)
		return 1
	}
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, "servers:", err)
			code = 1
		}
	}
	return code
}
