package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// The official servers work in a sandbox, and reach nothing outside of it.
func TestOfficialServersInASandbox(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the rules of this test are those of Landlock")
	}
	node, _, err := wiretest.Node()
	if err != nil {
		t.Skipf("there is no Node: %v", err)
	}
	modules, err := filepath.Abs("../npm/node_modules/@modelcontextprotocol")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(dir, "work")
	for name, text := range map[string]string{"work/notes.txt": "allowed-text", "outside/outside.txt": "outside-text"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	server := func(name string, args ...string) map[string]any {
		script := filepath.Join(modules, "server-"+name, "dist", "index.js")
		if _, err := os.Stat(script); err != nil {
			t.Skipf("the packages of test/npm are not installed: %v", err)
		}
		return map[string]any{"command": node, "args": append([]string{script}, args...), "cwd": work, "sandbox": "workspace"}
	}
	memory := server("memory")
	memory["env"] = map[string]string{"MEMORY_FILE_PATH": filepath.Join(work, "memory.jsonl")}
	config, err := json.Marshal(map[string]any{"toolboxes": map[string]any{"t": map[string]any{"mcpServers": map[string]any{
		"files": server("filesystem", work, filepath.Join(dir, "outside")), "memory": memory, "everything": server("everything"), // files is told that it may use what is outside too
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "workbench-config.json")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(wiretest.Program("workbench"), "check", "--config", file).CombinedOutput(); err != nil || strings.Contains(string(out), "not enforced") {
		t.Skipf("the kernel cannot enforce the sandbox: %v\n%s", err, out)
	}
	serve := exec.Command(wiretest.Program("workbench"), "serve", "--config", file)
	serve.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_STATE_HOME="+dir, "XDG_CACHE_HOME="+dir)
	c := wiretest.Start(t, serve, wiretest.Options{})
	c.Initialize(wiretest.Legacy, noCapabilities)
	for _, tt := range []struct {
		server, tool string
		args         map[string]any
		want         string
	}{
		{"files", "read_text_file", map[string]any{"path": filepath.Join(work, "notes.txt")}, "allowed-text"},
		{"files", "write_file", map[string]any{"path": filepath.Join(work, "new.txt"), "content": "x"}, "Successfully wrote"},
		{"files", "read_text_file", map[string]any{"path": filepath.Join(dir, "outside", "outside.txt")}, "EACCES"},
		{"files", "write_file", map[string]any{"path": filepath.Join(dir, "outside", "new.txt"), "content": "x"}, "EACCES"},
		{"memory", "create_entities", map[string]any{"entities": []any{map[string]any{"name": "a", "entityType": "b", "observations": []string{"c"}}}}, "entityType"},
		{"everything", "echo", map[string]any{"message": "hello"}, "Echo: hello"},
	} {
		reply := c.Call("tools/call", wiretest.JSON(map[string]any{"name": "workbench_use_tool", "arguments": map[string]any{
			"tool": map[string]any{"toolbox": "t", "server": tt.server, "name": tt.tool}, "arguments": tt.args,
		}}))
		if got := string(outcome(reply)); !strings.Contains(got, tt.want) || strings.Contains(got, "outside-text") {
			t.Errorf("%s/%s %v: got %s, want %q", tt.server, tt.tool, tt.args, got, tt.want)
		}
	}
	if _, err := os.Stat(filepath.Join(work, "memory.jsonl")); err != nil {
		t.Errorf("the server memory has written nothing: %v", err)
	}
}
