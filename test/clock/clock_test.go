//go:build linux && amd64 && !jumpingclock

package clock

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The edits that make a clock which can be set of that of the runtime.
var edits = map[string][2]string{
	"time_linux_amd64.s": {"TEXT time·now<ABIInternal>(SB)", "TEXT ·realNow<ABIInternal>(SB)"},
	"timeasm.go": {"func time_now() (sec int64, nsec int32, mono int64)", `//go:nosplit
func time_now() (sec int64, nsec int32, mono int64) {
	sec, nsec, mono = realNow()
	return sec + jump, nsec, mono
}

func realNow() (sec int64, nsec int32, mono int64)

//go:linkname jump
var jump int64
`},
}

// TestChaos runs the tests of this folder that have the tag jumpingclock.
func TestChaos(t *testing.T) {
	if os.Getenv("WORKBENCH_CHAOS") != "1" {
		t.Skip("make chaos runs it: it builds everything anew")
	}
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	overlay := struct{ Replace map[string]string }{make(map[string]string)}
	for name, edit := range edits {
		path := filepath.Join(strings.TrimSpace(string(root)), "src", "runtime", name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(string(text), edit[0]) != 1 {
			t.Fatalf("%s is not as the edits above expect it: it has no %q; correct them", path, edit[0])
		}
		overlay.Replace[path] = filepath.Join(dir, name)
		if err := os.WriteFile(overlay.Replace[path], []byte(strings.Replace(string(text), edit[0], edit[1], 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, list, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-v", "-tags", "jumpingclock", "-overlay", file, ".").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestFaultG57") {
		t.Errorf("%v\n%s", err, out)
	}
}
