package servers

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestLock has all servers locked and started twice more. What they say is the same each time, but for what they say of
// time: whoever has agreed to it once is not asked again.
func TestLock(t *testing.T) {
	b := newBed(t)
	home := t.TempDir()
	config := filepath.Join(home, "workbench-config.json")
	if err := os.WriteFile(config, []byte(b.config(b.fleet(), false)), 0o600); err != nil {
		t.Fatal(err)
	}
	lock := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(os.Getenv(binaryVariable), append([]string{"lock", "--config", config}, args...)...)
		cmd.Env = append(os.Environ(), b.mark, "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home, "XDG_CACHE_HOME="+home, "WORKBENCH_CONFIG=")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("workbench lock %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	t.Log(lock())
	for range 2 {
		lock("--diff")
	}
	lock("--check", "--offline")
}
