package servers

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// The agents find the entry that workbench connect has written, start workbench by it, and lose it by workbench
// disconnect. Codex tells of an entry without starting it.
func TestConnect(t *testing.T) {
	b := newBed(t)
	home := t.TempDir()
	env := []string{b.mark, "HOME=" + home, "PATH=" + os.Getenv("PATH"), "XDG_STATE_HOME=" + home, "NO_COLOR=1", "CI=1"}
	say := func(name string, args ...string) string {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Env, cmd.Dir, cmd.WaitDelay = env, b.files, 5*time.Second
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); err != nil {
			t.Errorf("%s %s: %v\n%s", filepath.Base(name), strings.Join(args, " "), err, wiretest.Clip(out.String()))
		}
		return out.String()
	}
	workbench := wiretest.Program("workbench")
	lists := []struct {
		client string
		ask    []string
		want   string
	}{
		{"claude-code", []string{b.pkg("@anthropic-ai/claude-code-linux-x64/claude", "@anthropic-ai/claude-code-darwin-arm64/claude"), "mcp", "list"}, "Connected"},
		{"codex", []string{b.node, b.pkg("@openai/codex/bin/codex.js"), "mcp", "list"}, "enabled"},
		{"opencode", []string{b.pkg("opencode-linux-x64/bin/opencode", "opencode-linux-x64-baseline/bin/opencode", "opencode-darwin-arm64/bin/opencode"), "mcp", "list"}, "connected"},
	}
	for _, l := range lists {
		say(workbench, "connect", l.client, "--yes")
		if got := say(l.ask[0], l.ask[1:]...); !strings.Contains(got, l.want) || !strings.Contains(got, workbench) {
			t.Errorf("%s: got %s\nwant the entry of workbench, %s", l.client, wiretest.Clip(got), l.want)
		}
		say(workbench, "disconnect", l.client, "--yes")
		if got := say(l.ask[0], l.ask[1:]...); strings.Contains(got, workbench) {
			t.Errorf("%s: got %s\nwant no entry", l.client, wiretest.Clip(got))
		}
	}
}
