package config_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/mcp-workbench/workbench/config"
)

func TestFaultD13_Text(t *testing.T) {
	const plain = `{"toolMode": "proxy"}`
	utf16Text := func(order func(u uint16) []byte) string {
		var b strings.Builder
		for _, u := range utf16.Encode([]rune(plain)) {
			b.Write(order(u))
		}
		return b.String()
	}
	little := utf16Text(func(u uint16) []byte { return []byte{byte(u), byte(u >> 8)} })
	big := utf16Text(func(u uint16) []byte { return []byte{byte(u >> 8), byte(u)} })
	const utf16Error = "c.json: the file is UTF-16; save it as UTF-8"
	for _, tt := range []struct {
		name, file, text string
		want             string // the error, or "" for a configuration in proxy mode
	}{
		{"plain", "c.json", plain, ""},
		{"byte order mark", "c.json", "\ufeff" + plain, ""},
		{"byte order mark, YAML", "c.yaml", "\ufefftoolMode: proxy", ""},
		{"carriage returns", "c.json", "{\r\n\"toolMode\": // a comment\r\n\"proxy\"\r\n}\r\n", ""},
		{"carriage returns, YAML", "c.yml", "# a comment\r\ntoolMode: proxy\r\ntoolboxes: {}\r\n", ""},
		{"ending in capitals", "C.YAML", "toolMode: proxy", ""},
		{"other ending", "workbench.conf", plain, ""},
		{"column after a byte order mark", "c.json", "\ufeff]", "c.json:1:1: not valid JSON: invalid character ']' at start of value"},
		{"UTF-16, little end first, marked", "c.json", "\xff\xfe" + little, utf16Error},
		{"UTF-16, big end first, marked", "c.json", "\xfe\xff" + big, utf16Error},
		{"UTF-16, little end first", "c.json", little, utf16Error},
		{"UTF-16, big end first", "c.json", big, utf16Error},
		{"Latin-1", "c.json", "{\n  \"_\": \"é, na\xefve\"}", "c.json:2:14: here is a byte that is not UTF-8; save the file as UTF-8"},
		{"zero bytes", "c.json", "\x00\x00\x00", `c.json:1:1: not valid JSON: invalid character '\u0000' at start of value`},
		{"too big", "c.json", plain + strings.Repeat(" ", 4<<20), "c.json: want at most 4194304 bytes, got more"},
		{"as big as allowed", "c.json", plain + strings.Repeat(" ", 4<<20-len(plain)), ""},
		{"only brackets", "c.json", strings.Repeat("[", 4<<20), "c.json:1:101: nested deeper than 100 levels"},
		{"brackets in strings and comments", "c.json",
			`{"toolMode": "proxy", "_": "` + strings.Repeat("[", 99) + `\"` + strings.Repeat("{", 99) + `" // ` + strings.Repeat("[", 99) + "\n/*" + strings.Repeat("[", 99) + `*/}`, ""},
		{"slash", "c.json", `{"toolMode": / }`, "c.json:1:14: not valid JSON: invalid character '/' at start of value"},
		{"only brackets, YAML", "c.yaml", strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "c.yaml:1:102: nested deeper than 100 levels"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg, err := config.Parse(tt.file, []byte(tt.text), nil)
			if got := errorText(err); got != tt.want {
				t.Fatalf("got error %q, want %q", got, tt.want)
			}
			if err == nil && cfg.ToolMode != config.ToolModeProxy {
				t.Errorf("got tool mode %q, want %q", cfg.ToolMode, config.ToolModeProxy)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// load reads a file as the program does.
func load(path string, lookup func(string) (string, bool)) (*config.Config, error) {
	src, err := config.Read(path)
	if err != nil {
		return nil, err
	}
	return src.Parse(lookup)
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "my.json")
	write(t, path, `{"toolboxes": {"t": {"mcpServers": {"s": {"command": "./server", "cwd": "data"}}}}}`)

	cfg, err := load(path, environment)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Path != path {
		t.Errorf("got path %q, want %q", cfg.Path, path)
	}
	s := cfg.Toolboxes[0].Servers[0]
	if want := filepath.Join(dir, "server"); s.Command != want {
		t.Errorf("got command %q, want %q", s.Command, want)
	}
	if want := filepath.Join(dir, "data"); s.Cwd != want {
		t.Errorf("got cwd %q, want %q", s.Cwd, want)
	}

	// A relative path may be given; what the file says relatively is absolute all the same.
	t.Chdir(dir)
	cfg, err = load("my.json", environment)
	if err != nil {
		t.Fatal(err)
	}
	if got := cfg.Toolboxes[0].Servers[0].Command; !filepath.IsAbs(got) || filepath.Base(got) != "server" {
		t.Errorf("got command %q, want the absolute path of server", got)
	}
}

func TestLoadFails(t *testing.T) {
	dir := t.TempDir()
	big := filepath.Join(dir, "big.json")
	write(t, big, "{}"+strings.Repeat(" ", 4<<20))
	if _, err := load(big, nil); err == nil || !strings.HasSuffix(err.Error(), "want at most 4194304 bytes, got more") {
		t.Errorf("too big: got error %v, want one that says so", err)
	}
	if _, err := load(filepath.Join(dir, "none.json"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: got error %v, want %v", err, fs.ErrNotExist)
	}
	if _, err := load(dir, nil); err == nil {
		t.Error("a folder: got no error, want one")
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestToolbox(t *testing.T) {
	cfg := config.Default()
	box, ok := cfg.Toolbox("workflows")
	if !ok || box != &cfg.Toolboxes[0] {
		t.Errorf("got %p and %v, want the toolbox of the configuration", box, ok)
	}
	if box, ok := cfg.Toolbox("Workflows"); ok {
		t.Errorf("got %v, want none of that name", box)
	}
}

// TestDefault checks that the built-in configuration is what a file that says the same gives.
func TestDefault(t *testing.T) {
	want := string(encode(t, config.Default()))
	cfg, err := config.Parse("c.json", []byte(want), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(encode(t, cfg)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestManyFaults checks that a file of nothing but faults does not become an error of megabytes.
func TestManyFaults(t *testing.T) {
	_, err := config.Parse("c.json", []byte("{"+strings.Repeat("\"x\": 1,\n", 5000)+"}"), nil)
	lines := strings.Split(errorText(err), "\n")
	if got, want := lines[len(lines)-1], "c.json: and 4900 more"; len(lines) != 101 || got != want {
		t.Errorf("got %d lines, the last %q, want 101 and %q", len(lines), got, want)
	}
}
