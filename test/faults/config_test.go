package faults

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// refused runs the program with a configuration, wants it to end with an error, and returns that.
func refused(t *testing.T, config string) string {
	t.Helper()
	b := &bed{t: t, mark: wiretest.Mark(t), canary: "canary-of-a-config", folder: t.TempDir(), runtime: shortDir(t)}
	b.configure(config)
	cmd := exec.Command(wiretest.Program("workbench"), "serve", "--config", b.path("workbench-config.json"))
	cmd.Env = b.environ()
	cmd.Stdin = strings.NewReader("")
	out, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("got exit status %d, %v, want 1", code, err)
	}
	if strings.Contains(string(out), b.canary) {
		t.Errorf("the error has a secret: %s", out)
	}
	return string(out)
}

func TestFaultD1_InvalidJSON(t *testing.T) {
	t.Parallel()
	got := refused(t, "{\n  \"toolboxes\": {\"box\": {\"mcpServers\": {\"s\": {\"command\": \"x\", \"env\": {\"T\": \"canary-of-a-config\"}}}}},\n  oops\n}")
	if !strings.Contains(got, "workbench-config.json:3:3: ") {
		t.Errorf("got %q, want the line and the column", got)
	}
}

func TestFaultD5_VariableIsMissing(t *testing.T) {
	b := newBed(t, "well", setup{sick: entry{"env": entry{"T": "${NOT_SET_ANYWHERE}", "SECRET": "${OURS}"}}, unready: true})
	if got := b.open().about("sick"); !strings.Contains(got, "NOT_SET_ANYWHERE") {
		t.Errorf("got %q, want the name of the variable", got)
	}
}

func TestFaultD8_Huge(t *testing.T) {
	t.Parallel()
	t.Run("a file of 100 MB", func(t *testing.T) {
		t.Parallel()
		if got := refused(t, `{"toolboxes":{}}`+strings.Repeat(" ", 100<<20)); !strings.Contains(got, "want at most 4194304 bytes") {
			t.Errorf("got %q, want the limit", got)
		}
	})
	t.Run("10,000 servers", func(t *testing.T) {
		boxes := entry{}
		for i := range 1000 {
			servers := entry{}
			for j := range 10 {
				servers[fmt.Sprintf("s%d", j)] = entry{"command": "no-such-program"}
			}
			boxes[fmt.Sprintf("b%d", i)] = entry{"description": "Many", "mcpServers": servers}
		}
		b := newClosedBed(t, "well", setup{top: entry{"toolboxes": boxes}})
		b.Result("tools/list", "{}")
		if text, err := os.ReadFile(b.path("log")); err != nil || strings.Contains(string(text), "no-such-program") {
			t.Errorf("got %v, and the log %s, want no server to be started", err, wiretest.Clip(string(text)))
		}
	})
}
