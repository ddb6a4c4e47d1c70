package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// TestNewcomer does what docs/commands.md prints for a workflow of one's own, line by line in a shell, and compares
// what comes of it. Only npx is ours: it runs the installed server instead of fetching it.
func TestNewcomer(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the lines are those of a shell")
	}
	b := newBed(t)
	text, err := os.ReadFile("../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "## Your own, in ten minutes\n")
	section, _, _ := strings.Cut(rest, "\n## ")
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	server := filepath.Join(b.npm, "node_modules", "@modelcontextprotocol", "server-filesystem", "dist", "index.js")
	shim := "#!/bin/sh\n[ \"$1 $2\" = '-y @modelcontextprotocol/server-filesystem' ] || exit 9\nshift 2\n" +
		wiretest.NodeCache + "='" + os.Getenv(wiretest.NodeCache) + "' exec '" + b.node + "' '" + server + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "npx"), []byte(shim), 0o755); err != nil {
		t.Fatal(err)
	}
	run := func(command string) string {
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir = dir
		cmd.Env = []string{"HOME=" + dir, "PATH=" + bin + ":" + filepath.Dir(wiretest.Program("workbench")) + ":/usr/bin:/bin"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s\n%v\n%s", command, err, out)
		}
		return string(out)
	}
	commands, compared := 0, 0
	var command string
	var want []string
	finish := func() {
		if command == "" {
			return
		}
		commands++
		got := run(command)
		for _, line := range want {
			compared++
			pieces := strings.Split(line, "…")
			for i := range pieces {
				pieces[i] = regexp.QuoteMeta(pieces[i])
			}
			if !regexp.MustCompile("(?m)^" + strings.Join(pieces, ".*") + "$").MatchString(got) {
				t.Errorf("%s\ngot\n%s\nwant the line %s", command, got, line)
			}
		}
		command, want = "", nil
	}
	shown, here := false, false
	for _, line := range strings.Split(section, "\n") {
		typed, begins := strings.CutPrefix(line, "$ ")
		switch {
		case strings.HasPrefix(line, "```"):
			finish()
			shown = !shown
		case !shown:
		case begins:
			finish()
			command, here = typed, strings.Contains(typed, "<<'END'")
		case here:
			command += "\n" + line
			here = line != "END"
		default:
			want = append(want, line)
		}
	}
	if commands < 10 || compared < 10 {
		t.Errorf("got %d commands and %d lines of answers in the documentation, want ten at least", commands, compared)
	}
}
