package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mcp-workbench/workbench/internal/mcptest"
)

var update = flag.Bool("update", false, "rewrite what scripts and golden files expect from what is printed")

// asProgram is set in the environment of a test that is to be the program.
const asProgram = "WORKBENCH_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == scriptArg || os.Getenv(asProgram) != "" {
		main() // of a test that has the program in its own process, or as one of its own
	}
	testscript.Main(m, map[string]func(){"workbench": main, "fakeserver": fakeServer, "client": scriptClient})
}

// fakeServer is a server for configurations of scripts: its arguments say what it offers, or are exit=7 for one that
// cannot start and mute for one that says nothing; after unless=FILE, it cannot start while there is that file.
func fakeServer() {
	args, mode := os.Args[1:], ""
	if len(args) > 0 {
		mode = args[0]
	}
	if file, ok := strings.CutPrefix(mode, "unless="); ok {
		args, mode = args[1:], ""
		if _, err := os.Stat(file); err == nil {
			mode = "exit=7"
		}
	}
	switch mode {
	case "exit=7":
		fmt.Fprintln(os.Stderr, "cannot read the licence file")
		os.Exit(7)
	case "mute":
		fmt.Fprintln(os.Stderr, "waiting for the licence server")
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	}
	server, err := mcptest.New(args...)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	mcptest.Main(server)
}

// scripts is where they are.
const scripts = "testdata/script"

// TestScripts runs the program as a user does. Besides the commands of testscript there are those of
// add_published_test.go, "exits CODE COMMAND…", for exact exit codes, "tear FOLDER", which cuts its files in half, and
// "printed stdout|stderr FILE", which compares with $WORK for the directory of the script. In a test with -race the
// program and the server of a script are built without it, for it makes each start four times as long; a script about
// things that go on at once begins with "env PATH=$RACE_PATH".
func TestScripts(t *testing.T) { playScripts(t, testscript.Params{Dir: scripts}) }

func playScripts(t *testing.T, which testscript.Params) {
	t.Helper()
	programs := plainPrograms(t)
	cmds := map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "printed": printed, "tear": tear, "packed": packed, "registry": registry}
	maps.Copy(cmds, which.Cmds)
	testscript.Run(t, testscript.Params{
		Dir:                 which.Dir,
		Files:               which.Files,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                cmds,
		Setup: func(env *testscript.Env) error {
			// A program built with -race would sleep a second when it exits.
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			env.Setenv("RACE_PATH", env.Getenv("PATH"))
			if programs != "" {
				env.Setenv("PATH", programs+string(filepath.ListSeparator)+env.Getenv("PATH"))
			}
			// The path of a socket is to be short, whatever the directory of the script is.
			dir, err := os.MkdirTemp("", "wb")
			if err != nil {
				return err
			}
			env.Defer(func() { _ = os.RemoveAll(dir) })
			env.Setenv("XDG_RUNTIME_DIR", dir)
			// What one script has seen of servers is nothing to another.
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			// The file of a script is named, so that it needs no trust.
			if config := filepath.Join(env.WorkDir, "workbench-config.json"); fileExists(config) {
				env.Setenv("WORKBENCH_CONFIG", config)
			}
			return nil
		},
	})
}

// plainPrograms is a folder with the programs of scripts, built without -race; "" in a test that is built without it,
// whose programs are this binary.
func plainPrograms(t *testing.T) string {
	t.Helper()
	info, _ := debug.ReadBuildInfo()
	if !slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		return ""
	}
	dir, err := buildPlain()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// buildPlain builds them at its first call, into a folder of testscript.Main, which removes it.
var buildPlain = sync.OnceValues(func() (string, error) {
	race, err := exec.LookPath("workbench")
	if err != nil {
		return "", err
	}
	dir := filepath.Join(filepath.Dir(race), "plain")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	program := filepath.Join(dir, filepath.Base(race))
	// Built like this, its packages are those of the program that other tests and make lint have had built.
	build := exec.Command("go", "test", "-c", "-vet=off", "-trimpath", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the programs of scripts: %w: %s", err, out)
	}
	return dir, os.Link(program, filepath.Join(dir, "fakeserver"+filepath.Ext(race)))
})

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// tear cuts each file of a folder in half.
func tear(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: tear FOLDER")
	}
	files, err := os.ReadDir(args[0])
	ts.Check(err)
	if len(files) == 0 {
		ts.Fatalf("%s is empty", args[0])
	}
	for _, f := range files {
		info, err := f.Info()
		ts.Check(err)
		ts.Check(os.Truncate(filepath.Join(args[0], f.Name()), info.Size()/2))
	}
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%q: got exit code %d, want %d", args[1:], got, want)
	}
}

func printed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: printed stdout|stderr FILE")
	}
	got := strings.ReplaceAll(ts.ReadFile(args[0]), ts.Getenv("WORK"), "$WORK")
	if *update {
		rewrite(ts, filepath.Join(scripts, ts.Name()+".txtar"), args[1], got)
		return
	}
	if want := ts.ReadFile(args[1]); got != want {
		ts.Fatalf("%s", diff.Diff(args[1], []byte(want), args[0], []byte(got)))
	}
}
