package child_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/child"
)

// What is distant is known by what is mounted, links that are near are followed, and it is not looked at itself: here it
// would not be there.
func TestDistant(t *testing.T) {
	near := t.TempDir()
	if real, err := filepath.EvalSymlinks(near); err != nil {
		t.Fatal(err)
	} else {
		near = real
	}
	far := filepath.Join(near, "net")
	child.PretendFar(t, far)
	program, farther := filepath.Join(near, "program"), filepath.Join(near, "farther")
	for file, by := range map[string]string{program: "/bin/sh", farther: far + "/python -u"} {
		if err := os.WriteFile(file, []byte("#!"+by+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"direct": far + "/x", "again": "direct/../y/z", "loop": "loop", "back": "net/../program", "up": "../" + filepath.Base(near) + "/net"} {
		if err := os.Symlink(target, filepath.Join(near, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		command, dir, path string
		want               bool
	}{
		{program, near, "", false},
		{program, far, "", true},
		{program, far + "/deep/er", "", true},
		{program, near + "/network", "", false},
		{far + "/program", near, "", true},
		{"./net/program", near, "", true},
		{"net/../program", near, "", false},
		{near + "/direct", near, "", true},
		{near + "/again", near, "", true},
		{near + "/up/program", near, "", true},
		{near + "/back", near, "", true}, // by what is far
		{near + "/loop", near, "", false},
		{farther, near, "", true}, // what runs it is
		{"farther", near, near, true},
		{near + "/none/at/all", near, "", false},
		{"program", near, near + ":" + far, false},
		{"program", near, far + ":" + near, true},
		{"program", near, "net:" + near, true},
		{"other", near, near, false},
	} {
		s := child.Spec{Command: tt.command, Dir: tt.dir, Env: []string{"PATH=" + tt.path}}
		if got := s.Distant(); got != tt.want {
			t.Errorf("%s in %s with PATH=%s: got %v, want %v", tt.command, tt.dir, tt.path, got, tt.want)
		}
	}
}

// A distant command is started by a process of its own that then is it, with all it would have had, and ends as all do.
func TestDistantCommand(t *testing.T) {
	dir := t.TempDir()
	child.PretendFar(t, dir)
	script := filepath.Join(dir, "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\npwd -P; echo \"$0:$#:$2\"; env | grep -c OWN; trap '' TERM; cat; ulimit -n; exit 5\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	said := func(p *child.Process) string {
		t.Helper()
		p.Stdin().Close()
		out, err := io.ReadAll(p.Stdout())
		if err != nil {
			t.Error(err)
		}
		return string(out)
	}
	g := newGuard(t)
	s := child.Spec{Command: "./script", Args: []string{"", "a\nb \xff"}, Dir: dir, Env: []string{"PATH=/usr/bin:/bin", "OWN=1"}}
	p := mustStart(t, g.Start, s)
	got := said(p)
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	limit, err := exec.Command("sh", "-c", "ulimit -n").Output()
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("%s\n%s:2:a\nb \xff\n1\n%s", real, script, limit); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if exit := waitDone(t, p); exit.Code != 5 {
		t.Errorf("got %v, want exit status 5", exit)
	}

	if err := errors.Join(os.Mkdir(filepath.Join(dir, "folder"), 0o700), os.WriteFile(filepath.Join(dir, "plain"), []byte("echo\n"), 0o700)); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{
		"./none":   "./none\": " + dir + "/none: no such file or directory",
		"nowhere":  "not found in PATH (/usr/bin:/bin)",
		"./folder": "is a directory",
		"./plain":  "not a program for this machine",
	} {
		s.Command = command
		p := mustStart(t, g.Start, s)
		if exit := waitDone(t, p); exit.Code != 127 {
			t.Errorf("%s: got %v, want exit status 127", command, exit)
		}
		if words := fmt.Sprint(p.Tail()); !strings.Contains(words, want) {
			t.Errorf("%s: got %q, want %q in it", command, words, want)
		}
	}

	stubborn := mustStart(t, g.Start, child.Spec{Command: thisProgram(), Args: []string{"helper", "stubborn"}, Dir: dir, Env: os.Environ()})
	line := make([]byte, 64)
	if n, err := stubborn.Stdout().Read(line); err != nil || !bytes.Contains(line[:n], fmt.Appendln(nil, stubborn.PID())) {
		t.Fatalf("got %q, %v, want the number %d", line[:n], err, stubborn.PID())
	}
	g.Close()
	if alive(stubborn.PID()) {
		t.Error("a distant command is alive after its guard has ended")
	}
}
