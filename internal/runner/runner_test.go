package runner_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/runner"
)

func TestOf(t *testing.T) {
	for _, c := range []struct {
		command string
		args    []string
		name    string // "" is none
		pkg     string
	}{
		{"npx", []string{"-y", "@x/y", "/data"}, "npx", "@x/y"},
		{"/usr/bin/npx", []string{"-y", "--package=@x/y", "z"}, "npx", "@x/y"},
		{`C:/node/npx.CMD`, []string{"y"}, "npx", "y"},
		{"cmd", []string{"/c", "npx", "-y", "y"}, "npx", "y"},
		{"env", []string{"A=1", "uvx", "mcp-server-git"}, "uvx", "mcp-server-git"},
		{"npm", []string{"exec", "-p", "a", "b"}, "npm", "a"},
		{"npm", []string{"--silent", "x", "a"}, "npm", "a"},
		{"npm", []string{"run", "serve"}, "", ""},
		{"uvx", []string{"--from", "git+https://example.com/x", "x"}, "uvx", "git+https://example.com/x"},
		{"uv", []string{"pip"}, "", ""},
		{"docker", []string{"run", "-i", "--rm", "mcp/fetch"}, "docker", "mcp/fetch"},
		{"docker", []string{"ps"}, "", ""},
		{"docker", nil, "", ""},
		{"pnpm", []string{"dlx", "y"}, "pnpm", "y"},
		{"bunx", []string{"y"}, "bunx", "y"},
		{"pipx", []string{"run", "y"}, "pipx", "y"},
		{"go", []string{"run", "example.com/x@latest"}, "go", "example.com/x@latest"},
		{"go", []string{"build"}, "", ""},
		{"node", []string{"npx"}, "", ""},
		{"env", []string{"-i", "npx"}, "", ""},
		{"", nil, "", ""},
	} {
		r := runner.Of(c.command, c.args)
		switch {
		case r == nil && c.name != "", r != nil && (r.Name != c.name || r.Package != c.pkg):
			t.Errorf("Of(%q, %q): got %+v, want %q with package %q", c.command, c.args, r, c.name, c.pkg)
		}
	}
}

// npx is the folder that npx installs @x/y into.
func npx(t *testing.T) (environ []string, dir string) {
	home := t.TempDir()
	return []string{"HOME=" + home, "npm_config_cache=" + home}, filepath.Join(home, "_npx", "97c0a91c8f71bc2e")
}

func watch(t *testing.T, environ []string) *runner.Watch {
	t.Helper()
	r := runner.Of("npx", []string{"-y", "@x/y", "arg"})
	if r == nil {
		t.Fatal("npx is no runner")
	}
	return r.Watch(environ)
}

func write(t *testing.T, at time.Time, path ...string) {
	t.Helper()
	name := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{name, filepath.Dir(name), filepath.Dir(filepath.Dir(name))} {
		if err := os.Chtimes(p, at, at); err != nil {
			t.Fatal(err)
		}
	}
}

func TestInstalling(t *testing.T) {
	later, before := time.Now().Add(time.Hour), time.Now().Add(-time.Hour)
	environ, dir := npx(t)
	w := watch(t, environ)
	if w.Installing(nil) {
		t.Error("it installs although nothing has changed")
	}
	write(t, later, dir, "node_modules", "a")
	if !w.Installing(nil) {
		t.Error("it does not install although its cache grows")
	}

	environ, dir = npx(t)
	write(t, before, dir, "node_modules", ".package-lock.json")
	w = watch(t, environ)
	write(t, before, dir, "package.json")
	if err := os.Chtimes(dir, later, later); err != nil {
		t.Fatal(err)
	}
	if w.Installing(nil) {
		t.Error("it installs although npx only runs what is there")
	}
	if w.Installing(foreign.Words{foreign.NewText("listening")}) {
		t.Error("it installs although it writes something else")
	}
	if !w.Installing(foreign.Words{foreign.NewText("npm warn exec The following package was not found and will be installed: @x/y@1.0.0")}) {
		t.Error("it does not install although it says so")
	}
}

func TestMend(t *testing.T) {
	before := time.Now().Add(-time.Hour)
	for _, c := range []struct {
		name  string
		files []string
		fresh bool // before the runner was started
		gone  bool
	}{
		{name: "torn", files: []string{"node_modules/a"}, gone: true},
		{name: "torn with the lock of a dead npm", files: []string{"node_modules/a", "concurrency.lock/x"}, gone: true},
		{name: "whole", files: []string{"node_modules/a", "node_modules/.package-lock.json"}},
		{name: "nothing there yet", files: []string{"package.json"}},
		{name: "whole before", files: []string{"node_modules/.package-lock.json"}, fresh: true},
	} {
		environ, dir := npx(t)
		if c.fresh {
			write(t, before, dir, c.files[0])
		}
		w := watch(t, environ)
		for _, f := range c.files {
			write(t, before, dir, f)
		}
		if c.fresh {
			if err := os.Remove(filepath.Join(dir, c.files[0])); err != nil {
				t.Fatal(err)
			}
		}
		mended, err := w.Mend()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(dir); os.IsNotExist(err) != c.gone || (mended == dir) != c.gone {
			t.Errorf("%s: got %q mended, and %v of the folder; want it gone: %t", c.name, mended, err, c.gone)
		}
	}
}

// What was torn by this program, with no time to mend it, is taken away at the next start, and what an npx has made
// whole there since is left.
func TestEnded(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		gone  bool
	}{
		"torn":                         {[]string{"node_modules/a"}, true},
		"torn, with a lock just left":  {[]string{"node_modules/a", "concurrency.lock/x"}, true},
		"made whole by another":        {[]string{"node_modules/a", "node_modules/.package-lock.json"}, false},
		"ended before it had anything": {[]string{"package.json"}, false},
	} {
		environ, dir := npx(t)
		write(t, time.Now(), dir, "package.json")
		w := watch(t, environ)
		w.End()
		for _, f := range c.files {
			write(t, time.Now(), dir, f)
		}
		if lock := filepath.Join(dir, "concurrency.lock"); strings.Contains(name, "lock") {
			later, before := time.Now().Add(time.Hour), time.Now().Add(-time.Hour)
			err := os.Chtimes(lock, later, later) // so that it is one just touched, however slow the test is
			if mended, fault := w.Mend(); mended != "" || err != nil || fault != nil || os.Chtimes(lock, before, before) != nil {
				t.Errorf("%s: got %q mended, %v, want it left to the next start", name, mended, fault)
			}
		}
		write(t, time.Now(), filepath.Dir(dir), ".ended-X", "node_modules", "a") // of a removal that was cut off
		watch(t, environ)
		watch(t, environ)
		if _, err := os.Stat(dir); os.IsNotExist(err) != c.gone {
			t.Errorf("%s: at the next start got %v, want it gone: %t", name, err, c.gone)
		}
		left, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), ".*"))
		if more, _ := filepath.Glob(filepath.Join(dir, ".*")); strings.Contains(name, "whole") {
			left = append(left, more...)
		}
		if len(left) > 0 {
			t.Errorf("%s: got %q left", name, left)
		}
	}
}

// What was torn long ago, as by a loss of power, is found, and taken away when the package is wanted again; where npm
// may be at work nothing is touched.
func TestTorn(t *testing.T) {
	environ, dir := npx(t)
	write(t, time.Now(), dir, "node_modules", "a")
	if torn := runner.Torn(environ); torn != nil {
		t.Errorf("got %q torn, want none while it may be installed", torn)
	}
	watch(t, environ)
	if _, err := os.Stat(dir); err != nil {
		t.Errorf("a folder in which somebody may install: %v", err)
	}
	write(t, time.Now().Add(-time.Hour), dir, "node_modules", "a")
	if torn := runner.Torn(environ); len(torn) != 1 || torn[0] != dir {
		t.Errorf("got %q torn, want %q", torn, dir)
	}
	watch(t, environ)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("a torn folder when its package is started: got %v, want it gone", err)
	}
	if torn := runner.Torn(nil); torn != nil {
		t.Errorf("without a home: got %q torn, want none", torn)
	}
}
