//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// What is listed for people has the time of their clocks, as what calls and logs print beside it.
func TestTimesAreLocal(t *testing.T) {
	dir := t.TempDir()
	// A time zone five hours east of UTC, as in tzfile(5): one kind of time, and no changes.
	zone := "TZif" + strings.Repeat("\x00", 32) + "\x00\x00\x00\x01\x00\x00\x00\x04" + "\x00\x00\x46\x50\x00\x00" + "FIV\x00"
	if err := os.WriteFile(filepath.Join(dir, "zone"), []byte(zone), 0o600); err != nil {
		t.Fatal(err)
	}
	workbench := func(in string, args ...string) string {
		t.Helper()
		cmd := exec.Command(wiretest.Program("workbench"), args...)
		cmd.Dir, cmd.Env, cmd.Stdin = dir, []string{"HOME=" + dir, "TZ=" + filepath.Join(dir, "zone")}, strings.NewReader(in)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("workbench %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	workbench(`{"user_id":"default_user","run":"run-0000000001","workflow":"w","created_at":"2026-01-02T21:04:05Z","updated_at":"2026-01-02T22:04:05Z",`+
		`"head":{"status":"running","goal":"mend"},"definition":{"id":"w"},"events":[{"kind":"started","at":"2026-01-02T21:04:05Z"}]}`+"\n", "runs", "import", "-")
	if got := workbench("", "runs", "list"); !strings.Contains(got, "2026-01-03 03:04:05") {
		t.Errorf("runs list: got %s", got)
	}
	if got := workbench("", "runs", "show", "run-0000000001"); !strings.Contains(got, "2026-01-03 02:04:05") {
		t.Errorf("runs show: got %s", got)
	}
}
