package clients_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/clients"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func lookup(variables map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := variables[name]
		return v, ok
	}
}

// Each client's files on each system are those of a golden file, without variables of its own and with them.
func TestPaths(t *testing.T) {
	own := map[string]string{}
	for _, name := range []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "CLINE_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
		"GROK_HOME", "QWEN_HOME", "KIMI_CODE_HOME", "PI_CODING_AGENT_DIR"} {
		own[name] = "/own/" + strings.ToLower(name)
	}
	for name, sys := range map[string]clients.System{
		"linux":       {GOOS: "linux", Lookup: lookup(map[string]string{"HOME": "/home/ada"})},
		"darwin":      {GOOS: "darwin", Lookup: lookup(map[string]string{"HOME": "/Users/ada"})},
		"windows":     {GOOS: "windows", Lookup: lookup(map[string]string{"USERPROFILE": `C:\Users\ada`, "APPDATA": `D:\Roaming`})},
		"linux-own":   {GOOS: "linux", Lookup: lookup(with(own, "HOME", "/home/ada"))},
		"linux-none":  {GOOS: "linux", Lookup: lookup(map[string]string{"HOME": "relative", "XDG_CONFIG_HOME": "relative"})},
		"windows-raw": {GOOS: "windows", Lookup: lookup(map[string]string{"USERPROFILE": `C:\Users\ada\`, "HOME": "/c/ada"})},
	} {
		var text strings.Builder
		for _, c := range clients.All() {
			fmt.Fprintf(&text, "%s (%s, %s, %s)\n", c.Name, c.Title, c.Format, strings.Join(c.Key, "/"))
			for _, path := range sys.UserPaths(c) {
				fmt.Fprintf(&text, "  %s\n", path)
			}
			for _, path := range sys.ProjectPaths(c, "PROJECT") {
				fmt.Fprintf(&text, "  %s\n", path)
			}
		}
		golden(t, "paths-"+name+".txt", text.String())
	}
}

func with(m map[string]string, key, value string) map[string]string {
	m[key] = value
	return m
}

// What the table says of a client is there, and said once.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range clients.All() {
		if c.Name == "" || c.Title == "" || len(c.User.Any) == 0 || seen[c.Name] {
			t.Errorf("%q: want a name of its own, a title and a place", c.Name)
		}
		seen[c.Name] = true
		if found, ok := clients.Find(c.Name); !ok || found.Title != c.Title {
			t.Errorf("Find(%q): got %q, %t", c.Name, found.Title, ok)
		}
	}
	if _, ok := clients.Find("no such client"); ok {
		t.Error("Find: got a client that there is not")
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", file, got, want)
	}
}
