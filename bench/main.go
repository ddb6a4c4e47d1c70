// Command bench measures workbench: how long a call takes through it, how many it forwards in a second, what that
// costs, how long it takes to start, how much memory it holds, what finding a tool and reading on in a large result
// cost, and how long a turn of a conversation takes to be kept. Everything is measured in one run against the same
// cheap server alone, a bare relay, a front made of mcp-go's typed parts, and any other gateway; the store of
// conversations, beside a file that is written and synced:
//
//	go run ./bench --quick
//	go run ./bench --only '200 B/' --peer 'other-gateway --config "$BENCH_CONFIG"'
//
//	driver ── pipe ── front ── pipe ── child
//
// Results of several kinds (text, code, text of other scripts, base64, lists of tools, numbers) are called for in sizes
// from 200 B to 1 MB, and told as multiples of the relay's times: the quartiles of what the rounds gave. How cost grows
// with servers, tools and sessions is measured too, and drawn by --plot; what the record of calls costs, by workbenches
// with each mode of it beside each other. Before a server over HTTP workbench stands beside Go's ReverseProxy, and
// nginx where that is installed.
//
// The driver writes requests and reads answers, each of which it checks. The fronts take turns in rounds, because the
// machine is not the same from one minute to the next; a figure of the table is the median of its rounds. In "p50" and
// "p99" one call is under way at a time; of fewer than a hundred calls, p99 is the longest. The calls of "calls/s" and
// "CPU" come in a crowd, and CPU is that of the front's process alone. "allocs" are counted with the front inside the
// driver's process. At the end the goals of the project are compared with what was measured.
//
// The command find measures the finder: how much of what tasks need stands in its answers and what these cost in
// tokens, how it ranks the tools of public sets beside plain BM25, what an index costs, and what one task costs a
// client with 1,000 tools behind 50 toolboxes:
//
//	go run ./bench find --set metatool=CHECKOUT
//
// The commands child, relay, reverse and typed are the other sides of the pipes; they are started by the driver.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"time"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the program; it returns the exit code.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	err := dispatch(ctx, args, in, out, errs)
	var flags flagError
	switch {
	case err == nil, errors.As(err, &flags) && flags.error == flag.ErrHelp:
		return 0
	case flags.error != nil:
		return 2
	}
	fmt.Fprintf(errs, "bench: %v\n", err)
	if errors.As(err, new(usageError)) {
		return 2
	}
	return 1
}

// flagError is what package flag found, and has told; usageError is another command line that makes no sense.
type (
	flagError  struct{ error }
	usageError struct{ error }
)

func dispatch(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) error {
	command := ""
	if len(args) > 0 {
		command = args[0]
	}
	switch command {
	case "child":
		var o childOptions
		f := flag.NewFlagSet("child", flag.ContinueOnError)
		f.SetOutput(errs)
		f.IntVar(&o.tools, "tools", 0, "")
		f.StringVar(&o.mark, "mark", "", "")
		f.BoolVar(&o.mute, "mute", false, "")
		f.BoolVar(&o.kinds, "kinds", false, "")
		f.StringVar(&o.list, "list", "", "")
		f.StringVar(&o.http, "http", "", "")
		if err := f.Parse(args[1:]); err != nil {
			return flagError{err}
		}
		c, err := newChild(o)
		if err != nil {
			return err
		}
		if o.http != "" {
			return c.serveHTTP(o.http, in)
		}
		return c.serve(in, out)
	case "reverse":
		if len(args) != 3 {
			return usageError{errors.New("reverse needs an address to serve and that of a server")}
		}
		return runReverse(args[1], args[2])
	case "find":
		return measureFind(ctx, args[1:], out, errs)
	case "relay", "typed":
		f := flag.NewFlagSet(command, flag.ContinueOnError)
		f.SetOutput(errs)
		address := ""
		if command == "typed" {
			f.StringVar(&address, "http", "", "")
		}
		if err := f.Parse(args[1:]); err != nil {
			return flagError{err}
		}
		if f.NArg() == 0 {
			return usageError{fmt.Errorf("%s needs the command of a server", command)}
		}
		if command == "relay" {
			return runRelay(ctx, in, out, f.Args())
		}
		return runTyped(ctx, in, out, address, f.Args())
	}
	return measure(ctx, args, out, errs)
}

// fullPlan takes about ten minutes.
func fullPlan() plan {
	return plan{
		settle: 4 * time.Second,
		tools:  1000,
		found:  3324, largest: 1_000_000,
		rounds: 11, crowds: 1, kindRounds: 88, alike: 11,
		sequence:     effort{20, 400 * time.Millisecond},
		kindSequence: effort{5, 10 * time.Millisecond},
		crowd:        effort{1, 400 * time.Millisecond},
		width:        crowdWidth,
		series:       3, starts: 100, openings: 50, weighed: 11, counted: 200,
		active: 1000, resting: 10_000,
		turns: 500, conversations: 100_000,
		servers: []int{1, 100, 10_000}, growTools: []int{10, 1000, 10_000}, growSessions: []int{2, 100, 10_000},
	}
}

// quickPlan takes under one. Its rounds are as many, and shorter.
func quickPlan() plan {
	p := fullPlan()
	p.crowds, p.kindRounds, p.alike, p.slow = 4, 33, 5, 20*time.Millisecond
	p.sequence, p.kindSequence = effort{5, 15 * time.Millisecond}, effort{2, 5 * time.Millisecond}
	p.crowd = effort{1, 50 * time.Millisecond}
	p.series, p.openings, p.weighed, p.counted = 1, 15, 3, 50
	p.active, p.resting = 100, 1000
	p.turns, p.conversations = 100, 10_000
	p.growSessions = []int{2, 100, 1000}
	return p
}

// measure runs the benchmark and prints its table.
func measure(ctx context.Context, args []string, out, errs io.Writer) error {
	b := &bench{plan: fullPlan(), only: regexp.MustCompile("")}
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(errs)
	picture := f.String("plot", "", "write how cost grows to this `file`, as SVG")
	quick := f.Bool("quick", false, "measure for under a minute")
	f.Func("only", "measure only the rows whose what/front matches this `regexp`, such as '200 B/|idle'", func(s string) (err error) {
		b.only, err = regexp.Compile(s)
		return err
	})
	f.Func("peer", "another gateway to measure, by its `command line`; it finds in $BENCH_CONFIG a file with mcpServers, in $BENCH_CHILD the server's command (repeatable)", func(s string) error {
		b.peers = append(b.peers, s)
		return nil
	})
	if err := f.Parse(args); err != nil {
		return flagError{err}
	}
	if f.NArg() > 0 {
		return usageError{fmt.Errorf("there is no command %q; --help lists the flags", f.Arg(0))}
	}
	if *quick {
		b.plan = quickPlan()
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	begun := time.Now()
	b.say = func(what string) { fmt.Fprintf(errs, "bench: %3.0f s: %s\n", time.Since(begun).Seconds(), what) }
	b.say("build")
	p, clean, err := build(ctx)
	if err != nil {
		return err
	}
	defer clean()
	b.programs = p
	machine := fmt.Sprintf("%s %s/%s, %d CPUs%s at the start%s", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), load(), bandwidth())
	if err := b.run(ctx); err != nil {
		return err
	}
	b.say("done")
	fmt.Fprintf(out, "%s\n\n", machine)
	if err := b.report.print(out); err != nil {
		return err
	}
	fmt.Fprintln(out)
	if err := printRatios(out, &b.report); err != nil {
		return err
	}
	fmt.Fprintln(out)
	if err := printGoals(out, &b.report); err != nil || *picture == "" {
		return err
	}
	var svg bytes.Buffer
	if err := plot(&svg, &b.report, b.dimensions()); err != nil {
		return err
	}
	return os.WriteFile(*picture, svg.Bytes(), 0o644)
}
