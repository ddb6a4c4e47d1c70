package reload

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/lifetime"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/atonce"
	"github.com/mcp-workbench/workbench/internal/lock"
	"github.com/mcp-workbench/workbench/internal/status"
)

// TestMain has the tests wait beside each other: nearly all of their time is that a change is waited for.
func TestMain(m *testing.M) {
	atonce.Tests(20)
	os.Exit(m.Run())
}

// followed is a configuration file that is followed, and who is told of it.
type followed struct {
	t    *testing.T
	path string
	told chan *config.Config
	r    *Reloader

	mu  sync.Mutex
	log bytes.Buffer
}

// Write implements io.Writer, for the log.
func (f *followed) Write(line []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.log.Write(line)
}

func (f *followed) logged() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.log.String()
}

// Reload is the front's.
func (f *followed) Reload(cfg *config.Config) { f.told <- cfg }

// followFile follows the file at path, which lookup may find or not.
func followFile(t *testing.T, path string) *followed {
	t.Helper()
	f := &followed{t: t, path: path, told: make(chan *config.Config, 1000)}
	env := &opening.Environment{Environment: &cli.Environment{ConfigPath: path, Hangups: lifetime.NewHangups()}}
	cfg, from, err := env.LoadBy((*config.Source).ParseUsable) // as serve does
	if err != nil {
		t.Fatal(err)
	}
	f.r = New(zerolog.New(f), cfg, from, "")
	t.Cleanup(f.r.Follow(f))
	return f
}

// standing is what others are told of the reloader.
func (f *followed) standing() (w status.Workbench) {
	f.r.Tell(&w)
	return w
}

// late bounds all waits; nothing that works comes near it.
const late = 2 * time.Minute

// becomes waits until the front was told of a configuration with this toolbox alone.
func (f *followed) becomes(name string) {
	f.t.Helper()
	timeout := time.After(late)
	for {
		select {
		case cfg := <-f.told:
			if len(cfg.Toolboxes) == 1 && cfg.Toolboxes[0].Name == name {
				return
			}
		case <-timeout:
			f.t.Fatalf("the front was not told of toolbox %s; the log says\n%s", name, f.logged())
		}
	}
}

// says waits until the log has a line with all the pieces.
func (f *followed) says(pieces ...string) {
	f.t.Helper()
	for deadline := time.Now().Add(late); ; time.Sleep(10 * time.Millisecond) {
		for line := range strings.Lines(f.logged()) {
			if !slices.ContainsFunc(pieces, func(p string) bool { return !strings.Contains(line, p) }) {
				return
			}
		}
		if time.Now().After(deadline) {
			f.t.Fatalf("no line of the log has %q; it says\n%s", pieces, f.logged())
		}
	}
}

// box is a configuration with a toolbox of that name alone.
func box(name string) string { return fmt.Sprintf(`{"toolboxes": {%q: {"mcpServers": {}}}}`, name) }

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func do(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A front that was started with a fault in one entry follows the file all the same, until the fault is mended; then a
// fault changes nothing.
func TestReloadOfWhatCanBeUsed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "workbench-config.json")
	bad := func(name string) string {
		return fmt.Sprintf(`{"toolboxes": {%q: {"mcpServers": {"s": {"comand": "x"}}}}}`, name)
	}
	put(t, path, bad("a"))
	f := followFile(t, path)
	put(t, path, bad("b"))
	f.becomes("b")
	if log := f.logged(); strings.Contains(log, "was not reloaded") {
		t.Errorf("got the log\n%s\nwant nothing of a fault that was there at the start", log)
	}
	put(t, path, box("c"))
	f.becomes("c")
	put(t, path, bad("d"))
	f.says("was not reloaded", "comand")
}

// A file is followed in whatever way it is changed.
func TestReloadFollowsTheFile(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		setUp func(t *testing.T, dir string) (path string)
		edit  func(t *testing.T, dir, path, text string)
	}{
		{"written", nil, func(t *testing.T, _, path, text string) { put(t, path, text) }},
		{"emptied and written bit by bit", nil, func(t *testing.T, _, path, text string) {
			f, err := os.Create(path)
			do(t, err)
			for _, c := range text {
				_, err := f.WriteString(string(c))
				do(t, err)
			}
			do(t, f.Close())
		}},
		{"replaced", nil, func(t *testing.T, dir, path, text string) {
			put(t, filepath.Join(dir, "new~"), text)
			do(t, os.Rename(filepath.Join(dir, "new~"), path))
		}},
		{"moved to a backup and written anew", nil, func(t *testing.T, dir, path, text string) {
			do(t, os.Rename(path, path+"~"))
			put(t, path, text)
		}},
		{"deleted and written anew", nil, func(t *testing.T, dir, path, text string) {
			do(t, os.Remove(path))
			put(t, path, text)
		}},
		{"its folder replaced", func(t *testing.T, dir string) string {
			do(t, os.Mkdir(filepath.Join(dir, "conf"), 0o700))
			return filepath.Join(dir, "conf", "c.json")
		}, func(t *testing.T, dir, path, text string) {
			do(t, os.Mkdir(filepath.Join(dir, "next"), 0o700))
			put(t, filepath.Join(dir, "next", "c.json"), text)
			do(t, os.Rename(filepath.Join(dir, "conf"), filepath.Join(dir, "old")))
			do(t, os.Rename(filepath.Join(dir, "next"), filepath.Join(dir, "conf")))
		}},
		{"its folder deleted and made anew", func(t *testing.T, dir string) string {
			do(t, os.Mkdir(filepath.Join(dir, "conf"), 0o700))
			return filepath.Join(dir, "conf", "c.json")
		}, func(t *testing.T, dir, path, text string) {
			do(t, os.RemoveAll(filepath.Join(dir, "conf")))
			do(t, os.Mkdir(filepath.Join(dir, "conf"), 0o700))
			put(t, path, text)
		}},
		{"behind a link", func(t *testing.T, dir string) string {
			do(t, os.Mkdir(filepath.Join(dir, "real"), 0o700))
			do(t, os.Symlink(filepath.Join("real", "c.json"), filepath.Join(dir, "c.json")))
			return filepath.Join(dir, "c.json")
		}, func(t *testing.T, dir, _, text string) { put(t, filepath.Join(dir, "real", "c.json"), text) }},
		{"in a volume of Kubernetes", func(t *testing.T, dir string) string {
			do(t, os.Mkdir(filepath.Join(dir, "..1"), 0o700))
			do(t, os.Symlink("..1", filepath.Join(dir, "..data")))
			do(t, os.Symlink(filepath.Join("..data", "c.json"), filepath.Join(dir, "c.json")))
			return filepath.Join(dir, "c.json")
		}, func(t *testing.T, dir, _, text string) {
			do(t, os.Mkdir(filepath.Join(dir, "..2"), 0o700))
			put(t, filepath.Join(dir, "..2", "c.json"), text)
			do(t, os.Symlink("..2", filepath.Join(dir, "..tmp")))
			do(t, os.Rename(filepath.Join(dir, "..tmp"), filepath.Join(dir, "..data")))
			do(t, os.RemoveAll(filepath.Join(dir, "..1")))
			do(t, os.Rename(filepath.Join(dir, "..2"), filepath.Join(dir, "..1")))
			do(t, os.Symlink("..1", filepath.Join(dir, "..tmp")))
			do(t, os.Rename(filepath.Join(dir, "..tmp"), filepath.Join(dir, "..data")))
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if runtime.GOOS == "windows" && test.setUp != nil {
				t.Skip("folders in use cannot be moved, and links need rights")
			}
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "c.json")
			if test.setUp != nil {
				path = test.setUp(t, dir)
			}
			put(t, path, box("first"))
			f := followFile(t, path)
			for i := range 3 { // the watch is as good after a change as before
				if i > 0 && test.setUp != nil && strings.Contains(test.name, "replaced") {
					do(t, os.RemoveAll(filepath.Join(dir, "old")))
				}
				name := fmt.Sprintf("b%d", i)
				test.edit(t, dir, path, box(name))
				f.becomes(name)
			}
			if got := f.standing(); got.ConfigProblem != "" {
				t.Errorf("got problem %q, want none", got.ConfigProblem)
			}
		})
	}
}

// A file with a fault changes nothing but that the front knows of it; when it is mended, it counts again.
func TestReloadOfFaultyFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "c.json")
	put(t, path, box("first"))
	f := followFile(t, path)
	put(t, path, "{\n  \"toolboxs\": {}}")
	f.says("warn", path+":2:3", `did you mean \"toolboxes\"`, "was not reloaded")
	if got := f.standing(); !strings.Contains(got.ConfigProblem, path+":2:3") || got.Reloaded != nil {
		t.Errorf("got %+v, want the place of the fault and no reload", got)
	}
	if cfg := <-f.told; !strings.Contains(cfg.Fault, path+":2:3") || len(cfg.Toolboxes) != 1 || cfg.Toolboxes[0].Name != "first" {
		t.Errorf("the front was told of %+v, want what it had and the place of the fault", cfg)
	}
	do(t, os.Remove(path))
	f.says("warn", "no such file")
	put(t, path, box("first"))
	f.says("info", "configuration reloaded", "nothing")
	if gone, mended := <-f.told, <-f.told; !strings.Contains(gone.Fault, "no such file") || mended.Fault != "" {
		t.Errorf("the front was told of the faults %q and %q, want that there is no file, and none", gone.Fault, mended.Fault)
	}
	put(t, path, box("second"))
	f.becomes("second")
	f.says("info", "configuration reloaded", "toolboxes added second; toolboxes removed first")
	if got := f.standing(); got.ConfigProblem != "" || got.Reloaded == nil || got.Reloaded.Changed != "toolboxes added second; toolboxes removed first" {
		t.Errorf("got %+v, want no problem and what has changed", got)
	}
}

// A fault that stays is spoken of once, or when somebody asks.
func TestReloadSaysFaultOnce(t *testing.T) {
	t.Parallel()
	f := &followed{t: t, path: filepath.Join(t.TempDir(), "c.json")}
	cfg := config.Default()
	cfg.Path = f.path
	f.r = New(zerolog.New(f), cfg, &cli.Sources{Env: new(cli.Environment), Places: config.Places{Named: f.path}}, "")
	for _, text := range []string{"[", "[", "]"} {
		put(t, f.path, text)
		f.r.reload(t.Context(), false)
		f.r.reload(t.Context(), false)
	}
	if got := strings.Count(f.logged(), "\n"); got != 2 {
		t.Errorf("got %d lines for two faults, want 2:\n%s", got, f.logged())
	}
	f.r.reload(t.Context(), true)
	if got := strings.Count(f.logged(), "\n"); got != 3 {
		t.Errorf("asked again, got %d lines, want 3:\n%s", got, f.logged())
	}
}

// What is changed again and again is read now and then, and in the end as it is.
func TestReloadOfRestlessFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "c.json")
	put(t, path, box("first"))
	f := followFile(t, path)
	const edits = 150
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for i := range edits {
		<-tick.C
		put(t, path+"~", box(fmt.Sprintf("b%d", i)))
		do(t, os.Rename(path+"~", path))
	}
	f.becomes(fmt.Sprintf("b%d", edits-1))
	if got := strings.Count(f.logged(), "configuration reloaded"); got > edits/2 {
		t.Errorf("%d edits were taken for %d, want much less", edits, got)
	}
}

// A hangup has the file read at once, and is answered even if nothing changed.
func TestReloadOnHangup(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "c.json")
	put(t, path, box("first"))
	f := followFile(t, path)
	if !f.r.from.Env.Hangups.Give() {
		t.Fatal("the hangup was not taken")
	}
	f.says("configuration reloaded", "nothing")
	put(t, path, `{`)
	f.r.from.Env.Hangups.Give()
	f.says("was not reloaded", path+":1:2")
}

// Where there was no file, one that comes is taken; one that goes does not make way for another.
func TestReloadFindsFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, ".config", "workbench", "workbench-config.json")
	f := &followed{t: t, path: path, told: make(chan *config.Config, 1000)}
	env := &opening.Environment{Environment: &cli.Environment{Environ: []string{"HOME=" + dir}, Hangups: lifetime.NewHangups()}}
	from := &cli.Sources{Env: env.Environment, Dir: t.TempDir()}
	do(t, from.Again())
	f.r = New(zerolog.New(f), config.Default(), from, "workflows")
	t.Cleanup(f.r.Follow(f))
	do(t, os.MkdirAll(filepath.Dir(path), 0o700))
	put(t, path, box("found"))
	f.becomes("found")
	f.says("warn", "the toolbox that is served was removed", `"toolbox":"workflows"`)
	do(t, os.Remove(path))
	f.says("warn", "was not reloaded", "no such file")
	put(t, path, `{"maxMessage": 1000000, "toolboxes": {"found": {"mcpServers": {"s": {"command": "x", "env": {"T": "${NOT_SET_HERE}"}}}}}}`)
	f.becomes("found")
	f.says("warn", "restart workbench for them", `"detail":"maxMessage"`)
	f.says("warn", "a server cannot be used", "NOT_SET_HERE")
}

// The lock file beside a configuration is followed as it is.
func TestReloadOfTheLockFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "workbench-config.json")
	put(t, path, `{"toolboxes":{"dev":{"pins":"hold","mcpServers":{"s":{"command":"x"}}}}}`)
	f := followFile(t, path)
	file := lock.New()
	file.Replace(lock.ID{Toolbox: "dev", Server: "s"}, []lock.Item{lock.NewItem(lock.Tool, []byte(`{"name":"a"}`))})
	if err := file.Write(lock.Beside(path)); err != nil {
		t.Fatal(err)
	}
	select {
	case cfg := <-f.told:
		if got := cfg.Toolboxes[0].Servers[0].Pins.Source; got == nil {
			t.Error("got no lock file, want the one that was written")
		}
	case <-time.After(late):
		t.Fatalf("the front was not told; the log says\n%s", f.logged())
	}
}

// A file of variables that the configuration borrows from is followed as the configuration is.
func TestReloadOfTheEnvFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, variables := filepath.Join(dir, "c.json"), filepath.Join(dir, "variables.env")
	write := func(to, text string) {
		t.Helper()
		if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(variables, "WORKBENCH_TEST_NAME=one\n")
	write(path, `{"envFile": "variables.env", "toolboxes": {"a": {"mcpServers": {"s": {"command": "x", "args": ["${WORKBENCH_TEST_NAME}"]}}}}}`)
	f := followFile(t, path)
	f.becomesArgument("two", func() { write(variables, "WORKBENCH_TEST_NAME=two\n") })
	other := filepath.Join(dir, "below", "other.env")
	if err := os.Mkdir(filepath.Dir(other), 0o700); err != nil {
		t.Fatal(err)
	}
	write(path, `{"envFile": "below/other.env", "toolboxes": {"a": {"mcpServers": {"s": {"command": "x", "args": ["${WORKBENCH_TEST_NAME:-none}"]}}}}}`)
	f.becomesArgument("three", func() { write(other, "WORKBENCH_TEST_NAME=three\n") })
}

// becomesArgument waits until the one argument of the one server is want, after a change.
func (f *followed) becomesArgument(want string, change func()) {
	f.t.Helper()
	change()
	timeout := time.After(late)
	for {
		select {
		case cfg := <-f.told:
			if cfg.Toolboxes[0].Servers[0].Args[0] == want {
				return
			}
		case <-timeout:
			f.t.Fatalf("the front was not told of the argument %s; the log says\n%s", want, f.logged())
		}
	}
}
