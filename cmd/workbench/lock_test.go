package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/lock"
	"github.com/mcp-workbench/workbench/internal/slots"
	"github.com/mcp-workbench/workbench/test/wiretest"
)

// While another process changes lock files, which are read before, none is written.
func TestLockTakesTurns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "workbench-config.json")
	text := `{"toolboxes": {"box": {"mcpServers": {"s": {"command": "` + filepath.ToSlash(wiretest.Program("fakeserver")) + `", "args": ["tools=echo"]}}}}}`
	do(t, os.WriteFile(path, []byte(text), 0o600))
	for _, args := range [][]string{{"lock"}, {"lock", "--accept", "box/s"}} {
		file := filepath.Join(dir, lock.Name)
		do(t, os.RemoveAll(file))
		release, err := slots.New(filepath.Join(dir, "workbench", "run", "lock"), 1).Take(t.Context(), lock.Name)
		do(t, err)
		cmd := exec.Command("workbench", append([]string{"--config", path}, args...)...)
		cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_RUNTIME_DIR="+dir, "XDG_STATE_HOME="+dir, "XDG_CACHE_HOME="+dir)
		ended := make(chan error, 1)
		do(t, cmd.Start())
		go func() { ended <- cmd.Wait() }()
		select {
		case err := <-ended:
			t.Fatalf("%q has not waited: %v", args, err)
		case <-time.After(time.Second):
		}
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%q has written the lock file", args)
		}
		release()
		if err := <-ended; err != nil {
			t.Errorf("%q: %v", args, err)
		}
		if _, err := os.Stat(file); err != nil {
			t.Errorf("%q: %v", args, err)
		}
	}
}
