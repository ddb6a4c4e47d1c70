package clients_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mcp-workbench/workbench/internal/clients"
)

// What becomes of a file of each client, and what is said of it, is in golden files.
func TestRead(t *testing.T) {
	files, err := filepath.Glob("testdata/read/*.txtar")
	if err != nil || len(files) < 20 {
		t.Fatalf("got %d files, %v, want those of twenty clients", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			client, ok := clients.Find(name)
			if !ok {
				t.Fatal("there is no such client")
			}
			text := told(t, clients.Source{Client: &client, Path: archive.Files[0].Name, Data: archive.Files[0].Data, System: linux()})
			golden(t, filepath.Join("read", name+".golden"), text)
		})
	}
}

func linux() clients.System {
	return clients.System{GOOS: "linux", Lookup: lookup(map[string]string{"HOME": "/home/ada"})}
}

// told is all that a file says.
func told(t *testing.T, src clients.Source) string {
	t.Helper()
	entries, notes, err := clients.Read(src)
	if err != nil {
		return err.Error() + "\n"
	}
	var text strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&text, "%d %s", e.Line, e.Name)
		if e.Project != "" {
			fmt.Fprintf(&text, " of %s", e.Project)
		}
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, e.Server.JSON(), "", "  "); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&text, " %s\n", &pretty)
		notes = append(notes, e.Notes...)
	}
	for _, n := range notes {
		fmt.Fprintf(&text, "%s\n", n)
	}
	return text.String()
}

// The same file means other things on Windows, and in the folder of a project.
func TestReadElsewhere(t *testing.T) {
	client, _ := clients.Find("gemini")
	windows := clients.System{GOOS: "windows", Lookup: lookup(nil)}
	got := told(t, clients.Source{Client: &client, Path: "settings.json", System: windows, Project: `C:\shop`,
		Data: []byte(`{"mcpServers": {"a": {"command": ".\\bin\\a.exe", "cwd": "sub", "env": {"P": "%P%"}, "args": ["${workspaceFolder}", "${userHome}${/}x"]}}}`)})
	for _, want := range []string{`"C:\\shop\\sub\\bin\\a.exe"`, `"C:\\shop\\sub"`, `"${P}"`, `"C:\\shop"`, `"${USERPROFILE}\\x"`} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s\nwant %s in it", got, want)
		}
	}
}

// A file that nobody knows is read by its looks, and a broken one tells where it is and keeps its secrets.
func TestReadUnknown(t *testing.T) {
	for text, want := range map[string]string{
		`{"mcpServers": {"a": {"command": "a"}}}`:            `1 a {`,
		`{"servers": {"a": {"command": "a"}}}`:               `1 a {`,
		"mcp_servers:\n  a: {command: a}\n":                  `2 a {`,
		`{"mcp": {"a": {"type": "local", "command": "a"}}}`:  `1 a {`,
		`{"mcp": {"servers": {"a": {"command": "a"}}}}`:      `1 a {`,
		`{"token": "ghp_secret\q"}`:                          "file:1:11: not valid JSON: a string with an escape or a control character that JSON does not have; write \\\\ for a backslash and \\n for a new line\n",
		"":                                                   "file:1:1: the file is empty\n",
		`{"mcpServers": [1, {"name": "b", "command": "b"}]}`: "1 b {",
		`{"mcpServers": "x"}`:                                "file:1: the servers are not an object; they are left out\n",
		`{"mcpServers": {"a": 1}}`:                           "file:1: a: the entry is not an object; it is left out\n",
		`{"mcpServers": null}`:                               "",
		`[]`:                                                 "",
	} {
		if got := told(t, clients.Source{Path: "file", Data: []byte(text), System: linux()}); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
