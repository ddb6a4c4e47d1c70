//go:build unix

package child_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mcp-workbench/workbench/internal/child"
)

func TestStartError(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode fs.FileMode) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("plain", "text", 0o600)
	write("headless", "exit 0\n", 0o700)
	write("orphan", "#!/no/such/interpreter\n", 0o700)
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	path := []string{"PATH=/no/such:" + dir}
	tests := []struct {
		name string
		spec child.Spec
		want error
		text string
	}{
		{"not in PATH", child.Spec{Command: "no-such-program", Env: path}, exec.ErrNotFound, `start "no-such-program": not found in PATH (/no/such:` + dir + `); install it, or give its full path`},
		{"not in a long PATH", child.Spec{Command: "x", Env: []string{"PATH=/1:/2:/1:/3:/4:/5:/6:/7:/6"}}, exec.ErrNotFound, "not found in PATH (/1:/2:/3:/4:/5 and 2 more);"},
		{"a command line", child.Spec{Command: "npx -y thing", Env: path}, exec.ErrNotFound, "arguments belong in args"},
		{"no PATH", child.Spec{Command: "sh"}, exec.ErrNotFound, "has no PATH"},
		{"PATH of the child, not ours", child.Spec{Command: "sh", Env: path}, exec.ErrNotFound, "not found in PATH"},
		{"no such file", child.Spec{Command: "/no/such/file"}, fs.ErrNotExist, "/no/such/file: no such file or directory"},
		{"no such file, relative", child.Spec{Command: "./none", Dir: dir}, fs.ErrNotExist, dir + "/none: no such"},
		{"not executable", child.Spec{Command: "./plain", Dir: dir}, fs.ErrPermission, "chmod +x"},
		{"not executable in PATH", child.Spec{Command: "plain", Env: path}, fs.ErrPermission, "chmod +x"},
		{"a directory", child.Spec{Command: "./sub", Dir: dir}, syscall.EISDIR, "is a directory"},
		{"a script without first line", child.Spec{Command: "headless", Env: path}, syscall.ENOEXEC, "#!/bin/sh"},
		{"a script without interpreter", child.Spec{Command: "orphan", Env: path}, fs.ErrNotExist, "interpreter"},
		{"no such working directory", child.Spec{Command: "/bin/cat", Dir: dir + "/none"}, fs.ErrNotExist, "working directory " + dir + "/none: no such"},
		{"a file as working directory", child.Spec{Command: "/bin/cat", Dir: dir + "/plain"}, fs.ErrInvalid, "is not a directory"},
		{"no command", child.Spec{}, fs.ErrInvalid, "no command"},
		{"NUL in an argument", child.Spec{Command: "/bin/cat", Args: []string{"a\x00b"}}, fs.ErrInvalid, "NUL"},
		{"an environment entry without value", child.Spec{Command: "/bin/cat", Env: []string{"canary"}}, fs.ErrInvalid, "KEY=VALUE"},
		{"too much", child.Spec{Command: "/bin/cat", Args: []string{strings.Repeat("x", 4<<20)}}, syscall.E2BIG, "too large"},
	}
	starts(t, func(t *testing.T, start func(child.Spec) (*child.Process, error)) {
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				p, err := start(test.spec)
				if err == nil {
					stop(t, p, child.Grace{})
					t.Fatal("started")
				}
				started, ok := errors.AsType[*child.StartError](err)
				if !ok || started.Command != test.spec.Command {
					t.Errorf("got %T, want a *StartError of %q", err, test.spec.Command)
				}
				if !errors.Is(err, test.want) {
					t.Errorf("got %v, want it to be %v", err, test.want)
				}
				if !strings.Contains(err.Error(), test.text) {
					t.Errorf("got %q, want %q in it", err, test.text)
				}
			})
		}
	})
}

func TestCommandIsFound(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\necho \"$0\"\n"
	for _, name := range []string{"sub/tool", "tool"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	text := filepath.Join(dir, "text", "tool")
	if err := os.MkdirAll(filepath.Dir(text), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(text, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		spec child.Spec
		want string
	}{
		{"first in PATH", child.Spec{Command: "tool", Env: []string{"PATH=/no/such:" + dir + "/sub:" + dir}}, dir + "/sub/tool"},
		{"relative to Dir", child.Spec{Command: "sub/tool", Dir: dir}, dir + "/sub/tool"},
		{"empty element of PATH is Dir", child.Spec{Command: "tool", Dir: dir, Env: []string{"PATH=/no/such:"}}, dir + "/tool"},
		{"after one that is not executable", child.Spec{Command: "tool", Env: []string{"PATH=" + dir + "/text:" + dir}}, dir + "/tool"},
		{"absolute", child.Spec{Command: dir + "/tool"}, dir + "/tool"},
	}
	starts(t, func(t *testing.T, start func(child.Spec) (*child.Process, error)) {
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				p := mustStart(t, start, test.spec)
				if got := strings.TrimSpace(output(t, p)); got != test.want {
					t.Errorf("got %q, want %q", got, test.want)
				}
			})
		}
	})
}

func TestSafeEnv(t *testing.T) {
	env := map[string]string{
		"PATH": "/bin", "HOME": "/home/u", "LC_TIME": "de_DE", "XDG_CACHE_HOME": "/c", "TERM": "() { :;}; echo",
		"AWS_SECRET_ACCESS_KEY": "canary", "GITHUB_TOKEN": "canary", "SSH_AUTH_SOCK": "canary", "LD_PRELOAD": "canary",
		"HTTPS_PROXY": "http://user:canary@proxy:3128", "http_proxy": "http://proxy:3128", "NO_PROXY": "localhost",
	}
	got := child.SafeEnv(func(key string) (string, bool) { v, ok := env[key]; return v, ok })
	want := "PATH=/bin HOME=/home/u LC_TIME=de_DE XDG_CACHE_HOME=/c NO_PROXY=localhost http_proxy=http://proxy:3128"
	if strings.Join(got, " ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
