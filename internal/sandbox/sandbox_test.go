package sandbox_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/sandbox"
)

// user makes a home with a program in it that is a link to a package of npm.
func user(t *testing.T) (home string, q sandbox.Request) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home = filepath.Join(dir, "home")
	for _, name := range []string{"home/.ssh/key", "home/.local/bin/tool", "home/.local/share/keyrings/login", "home/.nvm/versions/node/v22/bin/node",
		"home/.nvm/versions/node/v22/lib/npm", "home/pkg/node_modules/a/bin/cli.js", "home/pkg/node_modules/b/index.js", "home/src/server/package.json",
		"home/src/server/dist/index.js", "home/lone.js", "home/work/file", "home/data/file"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/usr/bin/env node\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(home, name) }
	return home, sandbox.Request{
		Program: in(".nvm/versions/node/v22/bin/node"), Dir: in("work"), Home: home, Own: in(".cache/own"), Workspace: true,
		Env: []string{"PATH=" + in(".local/bin") + ":" + in(".nvm/versions/node/v22/bin") + "::relative", "HOME=" + home, "XDG_CACHE_HOME=" + in(".cache"), "LANG=C"},
	}
}

func reaches(paths []string, file string) bool {
	return slices.ContainsFunc(paths, func(path string) bool { return path == file || strings.HasPrefix(file, path+"/") })
}

// A plan opens what a program needs for running, and not what lies beside it.
func TestPlan(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no sandbox")
	}
	home, q := user(t)
	in := func(name string) string { return filepath.Join(home, name) }
	for _, tt := range []struct {
		name           string
		args           []string
		change         func(*sandbox.Request)
		reads, forbids []string
	}{
		{"plain", nil, nil, []string{".nvm/versions/node/v22/lib/npm", ".local/bin/tool"}, []string{".ssh/key", ".local/share/keyrings/login", "lone.js", "data/file"}},
		{"a package of npm", []string{in("pkg/node_modules/a/bin/cli.js")}, nil, []string{"pkg/node_modules/b/index.js"}, []string{".ssh/key", "src/server/package.json"}},
		{"a source tree", []string{"-r", in("src/server/dist/index.js")}, nil, []string{"src/server/package.json"}, []string{".ssh/key", "data/file"}},
		{"a script in the home", []string{in("lone.js")}, nil, []string{"lone.js"}, []string{".ssh/key", "data/file"}},
		{"a folder as argument", []string{in("data"), home}, nil, nil, []string{".ssh/key", "data/file"}},
		{"more to read", nil, func(q *sandbox.Request) { q.Read = []string{in("data")} }, []string{"data/file"}, []string{".ssh/key"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := q
			q.Args = tt.args
			if tt.change != nil {
				tt.change(&q)
			}
			plan, err := sandbox.NewPlan(q)
			if err != nil {
				t.Fatal(err)
			}
			all := slices.Concat(plan.Rules.Read, plan.Rules.Write)
			for _, file := range tt.reads {
				if !reaches(all, in(file)) {
					t.Errorf("%s cannot be read by %q", file, all)
				}
			}
			for _, file := range tt.forbids {
				if reaches(all, in(file)) {
					t.Errorf("%s can be read by %q", file, all)
				}
			}
			if !reaches(plan.Rules.Write, in("work/file")) || reaches(plan.Rules.Write, in("data/file")) {
				t.Errorf("got what may be written %q, want the workspace", plan.Rules.Write)
			}
			if !slices.Contains(plan.Env, "HOME="+in(".cache/own/home")) || slices.Contains(plan.Env, "XDG_CACHE_HOME="+in(".cache")) || !slices.Contains(plan.Env, "LANG=C") {
				t.Errorf("got the environment %q, want a home of its own", plan.Env)
			}
		})
	}
}

// What would open too much, or cannot be, is an error.
func TestPlanFails(t *testing.T) {
	home, q := user(t)
	for name, change := range map[string]func(*sandbox.Request){
		"the home as workspace":      func(q *sandbox.Request) { q.Dir = home },
		"the root as workspace":      func(q *sandbox.Request) { q.Dir = "/" },
		"above the home":             func(q *sandbox.Request) { q.Dir = filepath.Dir(home) },
		"a path that is not there":   func(q *sandbox.Request) { q.Read = []string{filepath.Join(home, "none")} },
		"a destination without port": func(q *sandbox.Request) { q.To = []string{"example.com"} },
	} {
		q := q
		change(&q)
		if plan, err := sandbox.NewPlan(q); err == nil {
			t.Errorf("%s: got %+v, want an error", name, plan)
		}
	}
	q.To = []string{"*:443", "api.example.com:8443"}
	plan, err := sandbox.NewPlan(q)
	if err != nil || !slices.Equal(plan.Rules.Ports, []uint16{53, 443, 8443}) || len(plan.Beyond) != 1 || !strings.Contains(plan.Beyond[0], "api.example.com") {
		t.Errorf("got %+v, %v, want the ports, and that the host cannot be told", plan, err)
	}
}

// The profile for macOS holds what the rules say, and paths cannot end its strings.
func TestProfile(t *testing.T) {
	rules := sandbox.Rules{Read: []string{"/usr", `/a "b\c`}, Write: []string{"/w"}}
	closed := rules.Profile()
	for _, want := range []string{"(deny default)", `(allow file-read* process-exec (subpath "/usr"))`, `(subpath "/a \"b\\c")`, `(allow file-read* file-write* process-exec (subpath "/w"))`} {
		if !strings.Contains(closed, want) {
			t.Errorf("got\n%s\nwant %s in it", closed, want)
		}
	}
	if strings.Contains(closed, "(allow network") || strings.Count(closed, "(") != strings.Count(closed, ")") {
		t.Errorf("got\n%s\nwant no network and as many ( as )", closed)
	}
	rules.Ports = []uint16{443}
	if got := rules.Profile(); !strings.Contains(got, `(allow network-outbound (remote tcp "*:443"))`) || strings.Contains(got, "(allow network*") {
		t.Errorf("one port: got\n%s", got)
	}
	rules.Network = true
	if got := rules.Profile(); !strings.Contains(got, "(allow network*") {
		t.Errorf("all: got\n%s", got)
	}
	wrapper, argv := rules.Wrap("/bin/x", []string{"x", "-y"})
	if wrapper != "/usr/bin/sandbox-exec" || !slices.Equal(argv[3:], []string{"/bin/x", "-y"}) || argv[1] != "-p" {
		t.Errorf("got %q %q", wrapper, argv)
	}
}

func BenchmarkNewPlan(b *testing.B) {
	q := sandbox.Request{Program: "/bin/echo", Dir: b.TempDir(), Env: os.Environ(), Home: os.Getenv("HOME"), Own: b.TempDir(), Workspace: true}
	for b.Loop() {
		if _, err := sandbox.NewPlan(q); err != nil {
			b.Fatal(err)
		}
	}
}
