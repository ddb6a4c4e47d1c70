package servers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
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
		cmd := exec.Command(wiretest.Program("workbench"), append([]string{"lock", "--config", config}, args...)...)
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

	for name, capabilities := range map[string]string{"of a client that can all": allCapabilities, "of one that can nothing": noCapabilities} {
		for _, modern := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, modern %v", name, modern), func(t *testing.T) { b.wantAgreed(t, config, capabilities, modern) })
		}
	}
}

// wantAgreed opens all toolboxes beside a lock file and wants no server to be other than was agreed to, whichever
// client it is told of.
func (b *bed) wantAgreed(t *testing.T, config, capabilities string, modern bool) {
	t.Helper()
	p := b.serve(t, config)
	if !modern {
		p.Initialize(wiretest.Legacy, capabilities)
	}
	for _, name := range toolboxes(b.fleet()) {
		params := `{"name":"workbench_open_toolbox","arguments":{"detail":"names","toolbox_name":` + wiretest.JSON(name) + `}}`
		if modern {
			params = wiretest.Modern(params, capabilities)
		}
		var result struct {
			StructuredContent struct {
				Servers []struct {
					Name, State string
					Notes       []string
				}
			}
		}
		unmarshal(t, "open", p.Result("tools/call", params), &result)
		for _, s := range result.StructuredContent.Servers {
			if s.State != "ready" {
				t.Errorf("%s: got it %s, want it ready", s.Name, s.State)
			}
			for _, note := range s.Notes {
				if strings.Contains(note, "agreed") {
					t.Errorf("%s: got the note %q, want none", s.Name, note)
				}
			}
		}
	}
}
