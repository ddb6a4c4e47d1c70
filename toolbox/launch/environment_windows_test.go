package launch_test

import (
	"slices"
	"testing"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/toolbox/launch"
)

// Names of variables are the same in any case: a server gets the Path of most systems, and what it declares replaces
// it.
func TestEnvironment(t *testing.T) {
	ours := []string{`Path=C:\bin`, `SYSTEMROOT=C:\Windows`, "Secret=1", "Wanted=2"}
	cfg := config.Server{Env: map[string]string{"systemroot": `D:\`}}
	cfg.InheritEnv.Names = []string{"WANTED"}
	want := []string{`PATH=C:\bin`, "WANTED=2", `systemroot=D:\`}
	if got := launch.Environment(cfg, ours); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	cfg.InheritEnv.All = true
	want = []string{`Path=C:\bin`, "Secret=1", "Wanted=2", `systemroot=D:\`}
	if got := launch.Environment(cfg, ours); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
