package main

import (
	"errors"
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/mcp-workbench/workbench/internal/atonce"
	_ "github.com/mcp-workbench/workbench/internal/mcptest" // the server of scripts, so that go test knows what a result is of
	"github.com/mcp-workbench/workbench/test/wiretest"
)

var update = flag.Bool("update", false, "rewrite what scripts and golden files expect from what is printed")

// asProgram is set in the environment of a test that is to be the program.
const asProgram = "WORKBENCH_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == scriptArg || os.Getenv(asProgram) != "" {
		main() // of a test that has the program in its own process, or as one of its own
	}
	testscript.Main(programs{m}, map[string]func(){"workbench": main, "client": scriptClient})
}

// programs are the tests, for which the program and a server for configurations are built as they are shipped.
type programs struct{ *testing.M }

// Run implements testscript.TestingM. The program's log ends with its process, which some tests share with it.
func (m programs) Run() int {
	atonce.Tests(8)
	debug.SetGCPercent(400) // the program's commands are run in this process, too
	return wiretest.Main(m.M, []string{"cmd/workbench", "test/fakeserver"},
		goleak.IgnoreAnyFunction("github.com/mcp-workbench/workbench/internal/logqueue.(*Writer).run"),
		goleak.IgnoreAnyFunction("github.com/dlclark/regexp2.runClock"))
}

// scripts is where they are.
const scripts = "testdata/script"

// TestScripts runs the program as a user does. Besides the commands of testscript there are those of
// add_published_test.go, "exits CODE COMMAND…", for exact exit codes, "tear FOLDER", which cuts its files in half, and
// "printed stdout|stderr FILE", which compares with $WORK for the directory of the script. The program of a script is the
// one that is shipped, since -race makes each start four times as long; a script about things that go on at once begins
// with "env PATH=$RACE_PATH", where the program is this test binary.
func TestScripts(t *testing.T) {
	t.Parallel()
	playScripts(t, testscript.Params{Dir: scripts})
}

func playScripts(t *testing.T, which testscript.Params) {
	t.Helper()
	testscript.Run(t, forScripts(which))
}

// forScripts gives scripts what all of them have.
func forScripts(which testscript.Params) testscript.Params {
	cmds := map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "printed": printed, "tear": tear, "packed": packed, "registry": registry}
	maps.Copy(cmds, which.Cmds)
	return testscript.Params{
		Dir:                 which.Dir,
		Files:               which.Files,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                cmds,
		Setup: func(env *testscript.Env) error {
			// A program built with -race would sleep a second when it exits.
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			shipped, path := filepath.Dir(wiretest.Program("workbench")), env.Getenv("PATH")
			env.Setenv("RACE_PATH", path+string(filepath.ListSeparator)+shipped)
			env.Setenv("PATH", shipped+string(filepath.ListSeparator)+path)
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
	}
}

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
