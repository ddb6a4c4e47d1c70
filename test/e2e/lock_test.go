package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// TestLock locks the servers of npm and starts them again, as a client that can do everything, as one that can do
// nothing, and from what was last seen: nothing that they say is taken for a change.
func TestLock(t *testing.T) {
	b := newBed(t)
	home := t.TempDir()
	path := filepath.Join(home, "workbench-config.json")
	entries := make(map[string]json.RawMessage)
	for _, name := range servers() {
		entries[name] = []byte(b.server(name))
	}
	text := wiretest.JSON(map[string]any{"openTimeout": "2m", "toolboxes": map[string]any{
		"dev": map[string]any{"pins": "hold", "mcpServers": entries},
	}})
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	command := func(cache string, args ...string) *exec.Cmd {
		cmd := exec.Command(wiretest.Program("workbench"), append(args, "--config", path)...)
		cmd.Env = append(b.workbenchEnv(), "XDG_CACHE_HOME="+cache)
		return cmd
	}
	for _, args := range [][]string{{"lock"}, {"lock", "--diff"}, {"lock", "--check", "--offline"}} {
		if out, err := command(home, args...).CombinedOutput(); err != nil {
			t.Fatalf("workbench %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	for _, capabilities := range []string{noCapabilities, allCapabilities} {
		c := wiretest.Start(t, command(t.TempDir(), "serve"), wiretest.Options{Answer: func(wiretest.Message) (string, *wiretest.Error) { return `{"roots":[]}`, nil }})
		c.Initialize(wiretest.Legacy, capabilities)
		if got := open(t, c.Client, "dev"); got.Connected != len(servers()) {
			t.Errorf("with %s: got %+v, want all servers ready", capabilities, got.Servers)
		}
		if got := string(c.Result("tools/call", openParams("dev"))); strings.Contains(got, "agreed to") {
			t.Errorf("with %s: got %s, want nothing that was not agreed to", capabilities, got)
		}
		c.CloseInput()
		c.Exit()
	}
}
