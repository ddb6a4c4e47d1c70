package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// Ten workbenches that start one server at the same moment do not all start it at the same moment, and each has it in
// the end.
func TestStampede(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the server of this test is a shell script")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "workbench-config.json")
	journal := filepath.Join(dir, "journal")
	text := fmt.Sprintf(`{"toolboxes": {"box": {"mcpServers": {"s": {"command": "sh", "args": ["-c",
		"echo begin >> %[1]s; sleep 0.1; echo end >> %[1]s; exec %[2]s tools=echo"]}}}}}`, journal, wiretest.Program("fakeserver"))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			cmd := exec.Command("workbench", "--config", path, "call", "box/s/echo")
			cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_RUNTIME_DIR="+dir, "XDG_STATE_HOME="+dir, "XDG_CACHE_HOME="+dir, "GORACE=atexit_sleep_ms=0")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("got %v: %s", err, out)
			}
		})
	}
	all.Wait()
	took := time.Since(began)
	lines, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	now, most, starts := 0, 0, 0
	for line := range strings.Lines(string(lines)) {
		if line == "begin\n" {
			now, starts = now+1, starts+1
		} else {
			now--
		}
		most = max(most, now)
	}
	if starts != 10 || now != 0 {
		t.Errorf("got %d starts, %d without an end; want 10", starts, now)
	}
	// On a machine so slow that a start is not waited for any longer they may overlap.
	if limit := min(max(2, runtime.NumCPU()), 8); most > limit && took < 5*time.Second {
		t.Errorf("got %d starts at a time, want %d at most", most, limit)
	}
	t.Logf("10 starts in %s, %d at a time", took, most)
}
