package servers

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/test/wiretest"
)

const (
	// runVariable switches the test on.
	runVariable = "WORKBENCH_SERVERS"
	// binaryVariable tells the test where TestMain put the program.
	binaryVariable = "WORKBENCH_SERVERS_BINARY"
	// toolsVariable makes the test binary a server: it names a file with the definitions of its tools, each of which
	// answers with what it was called with.
	toolsVariable = "WORKBENCH_SERVERS_TOOLS"
)

// TestMain builds the program once, as it is shipped.
func TestMain(m *testing.M) {
	if path := os.Getenv(toolsVariable); path != "" {
		if err := serve(path); err != nil {
			fmt.Fprintln(os.Stderr, "servers:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(run(m))
}

// serve is a server with the tools that a file defines.
func serve(path string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var definitions []json.RawMessage
	if err := json.Unmarshal(raw, &definitions); err != nil {
		return err
	}
	s := &mcptest.Server{Tools: []string{}}
	for _, d := range definitions {
		s.Tools = append(s.Tools, string(d))
	}
	mcptest.Main(s)
	return nil
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
	if err := wiretest.Build(dir, "cmd/workbench"); err != nil {
		fmt.Fprintln(os.Stderr, "servers:", err)
		return 1
	}
	if err := os.Setenv(binaryVariable, filepath.Join(dir, "workbench")); err != nil {
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
