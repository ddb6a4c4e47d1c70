// Command underload runs the tests of the project many times on a quiet machine, beside busy loops, and with every sync
// of a file slowed down, and prints how many runs were green. A test that expects a speed of the machine shows itself
// here.
//
//	go run ./test/underload            20 quiet runs, 5 beside two busy loops, 5 with syncs slowed by 5 ms
//	go run ./test/underload -quiet 1 -busy 0 -sync 0 ./toolbox
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// setting is one kind of load.
type setting struct {
	name string
	runs int
	// begin puts the load on and returns the words to put in front of the command, and what takes the load off.
	begin func() (prefix []string, end func(), err error)
}

func main() {
	if len(os.Args) > 2 && os.Args[1] == slowed {
		fmt.Fprintln(os.Stderr, "underload:", becomeSlowed(os.Args[2:]))
		os.Exit(1)
	}
	quiet := flag.Int("quiet", 20, "`runs` without load")
	busy := flag.Int("busy", 5, "`runs` beside two busy loops")
	sync := flag.Int("sync", 5, "`runs` with slow syncs")
	delay := flag.Duration("delay", 5*time.Millisecond, "what a slow sync takes longer")
	flag.Parse()
	packages := flag.Args()
	if len(packages) == 0 {
		packages = []string{"./..."}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	settings := []setting{
		{"quiet", *quiet, func() ([]string, func(), error) { return nil, func() {}, nil }},
		{"beside two busy loops", *busy, func() ([]string, func(), error) { return nil, spin(2), nil }},
		{fmt.Sprintf("every sync slowed by %s", *delay), *sync, func() ([]string, func(), error) { return slowSyncs(*delay) }},
	}
	// What the first run would compile, it would count.
	compile := makeTests(ctx, nil, "-run=NONE", packages)
	if out, err := compile.CombinedOutput(); err != nil {
		_, _ = os.Stderr.Write(out)
		os.Exit(1)
	}
	red := false
	for _, s := range settings {
		green, times, err := s.run(ctx, packages)
		red = red || err != nil || green < s.runs
		if err != nil {
			fmt.Printf("%s: %v\n", s.name, err)
		} else if s.runs > 0 {
			slices.Sort(times)
			fmt.Printf("%s: green %d of %d, %s at the median, %s at most\n", s.name, green, s.runs,
				times[len(times)/2].Round(time.Second), times[len(times)-1].Round(time.Second))
		}
	}
	if red {
		os.Exit(1)
	}
}

// makeTests is the command that `make test` runs its tests by, with time for a slow machine.
func makeTests(ctx context.Context, prefix []string, more string, packages []string) *exec.Cmd {
	args := append(slices.Clone(prefix), "make", "--no-print-directory", "tests",
		"TESTFLAGS=-count=1 -timeout=20m "+more, "PACKAGES="+strings.Join(packages, " "))
	return exec.CommandContext(ctx, args[0], args[1:]...)
}

func (s setting) run(ctx context.Context, packages []string) (green int, times []time.Duration, err error) {
	for i := range s.runs {
		prefix, end, err := s.begin()
		if err != nil {
			return 0, nil, err
		}
		test := makeTests(ctx, prefix, "", packages)
		test.Cancel = func() error { return test.Process.Signal(os.Interrupt) }
		test.WaitDelay = 10 * time.Second
		began := time.Now()
		out, err := test.CombinedOutput()
		end()
		if ctx.Err() != nil {
			return 0, nil, context.Cause(ctx)
		}
		var failed *exec.ExitError
		if err != nil && !errors.As(err, &failed) {
			return 0, nil, err
		}
		times = append(times, time.Since(began))
		if err == nil {
			green++
			continue
		}
		fmt.Printf("%s, run %d: %s\n", s.name, i+1, strings.Join(failures(out), ", "))
		_, _ = os.Stderr.Write(out) // for who wants to know more
	}
	return green, times, nil
}

// failures are the tests that failed, or the last line where none is named.
func failures(out []byte) []string {
	var names []string
	for _, found := range regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`).FindAllSubmatch(out, -1) {
		names = append(names, string(found[1]))
	}
	if names == nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		names = lines[len(lines)-1:]
	}
	return names
}

// spin keeps n processors busy until it is told to end.
func spin(n int) (end func()) {
	var ended atomic.Bool
	runtime.GOMAXPROCS(n + 1)
	for range n {
		go func() {
			runtime.LockOSThread()
			for !ended.Load() {
			}
		}()
	}
	return func() { ended.Store(true) }
}

// slowed is the first argument of this program where it becomes a command whose syncs are slow.
const slowed = "become-slowed"
