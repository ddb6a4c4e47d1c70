package commands

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
)

// The variables of the specification make a command string, or are refused.
func TestStartup(t *testing.T) {
	for _, tt := range []struct{ environ, want, err string }{
		{"", "", ""},
		{"STARTUP_COMMAND=list_orders", "list_orders", ""},
		{`STARTUP_ACTION={"command_name":"find","arguments":{"words":"Tom & <Jerry>","n":2}}`, "find <n>2</n> <words>Tom &amp; &lt;Jerry></words>", ""},
		{`STARTUP_ACTION={"command_name":"find","parameters":{"n":true}}`, "find <n>true</n>", ""},
		{`STARTUP_ACTION=find`, "", "STARTUP_ACTION is not an action in JSON"},
		{"STARTUP_COMMAND=a|STARTUP_ACTION={}", "", "both set"},
		{`CONTEXT={"a":1}`, "", "CONTEXT"},
		{"PROJECT_FOLDERPATH=/x", "", "PROJECT_FOLDERPATH"},
	} {
		env := &opening.Environment{Environment: &cli.Environment{Streams: cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}, Environ: strings.Split(tt.environ, "|")}}
		got, err := startupCommand(env)
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: got %q, %v, want %q, %q", tt.environ, got, err, tt.want, tt.err)
		}
	}
}

// A file of variables that is not there, or is malformed, ends the start with its name and the line.
func TestVariableFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"good.env": "A=1\nB=\"two words\"\n", "bad.env": "A=1\nthis is none\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ file, err string }{
		{"good.env", ""},
		{"bad.env", "PASSWORDS_FILE_PATH: " + filepath.Join(dir, "bad.env") + ":2"},
		{"none.env", "PASSWORDS_FILE_PATH: "},
	} {
		env := &opening.Environment{Environment: &cli.Environment{Environ: []string{"A=0", "PASSWORDS_FILE_PATH=" + filepath.Join(dir, tt.file)}}}
		err := readVariables(env, "ENV_FILE_PATH", "PASSWORDS_FILE_PATH")
		if (err == nil) != (tt.err == "") || err != nil && !strings.HasPrefix(err.Error(), tt.err) {
			t.Errorf("%s: got %v, want %q", tt.file, err, tt.err)
		}
		a, _ := env.Lookup("A")
		b, _ := env.Lookup("B")
		if err == nil && (a != "1" || b != "two words") {
			t.Errorf("%s: got A=%q and B=%q, want those of the file", tt.file, a, b)
		}
	}
}
