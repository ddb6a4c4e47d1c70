package servers

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/test/wiretest"
)

const (
	// runVariable switches the test on.
	runVariable = "WORKBENCH_SERVERS"
	// toolsVariable makes the test binary a server: it names a file with the definitions of its tools, each of which
	// answers with what it was called with.
	toolsVariable = "WORKBENCH_SERVERS_TOOLS"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(toolsVariable); path != "" {
		if err := serve(path); err != nil {
			fmt.Fprintln(os.Stderr, "servers:", err)
			os.Exit(1)
		}
		return
	}
	if os.Getenv(runVariable) != "1" {
		os.Exit(m.Run()) // nothing but skipping
	}
	os.Exit(wiretest.Main(m, []string{"cmd/workbench"}))
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
