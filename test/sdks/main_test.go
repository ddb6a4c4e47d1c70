package sdks

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

func TestMain(m *testing.M) { os.Exit(wiretest.Main(m, []string{"cmd/workbench"})) }

// goSDK builds the server of the Go SDK, if its modules can be had.
var goSDK = sync.OnceValues(func() (program string, err error) {
	program = wiretest.Program("gosdk")
	build := exec.Command("go", "build", "-C", "gosdk", "-trimpath", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=readonly")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("the server of the Go SDK cannot be built: %w\n%s", err, out)
	}
	return program, nil
})
