//go:build unix

package child_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/mcp-workbench/workbench/internal/atonce"
	"github.com/mcp-workbench/workbench/internal/child"
)

// TestMain makes the test binary a stock of ill-behaved processes: run as "child.test helper MODE…" it is one.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "helper" {
		syscall.Exit(helper(os.Args[2], os.Args[3:])) // unlike os.Exit not a second late with -race
	}
	atonce.Tests(16)
	goleak.VerifyTestMain(m)
}

func helper(mode string, args []string) int {
	switch mode {
	case "exit":
		code, _ := strconv.Atoi(args[0])
		fmt.Fprintf(os.Stderr, "leaving\nwith %d\n", code)
		return code
	case "signal":
		n, _ := strconv.Atoi(args[0])
		unix.Kill(os.Getpid(), syscall.Signal(n))
		forever()
	case "echo":
		io.Copy(os.Stdout, os.Stdin)
	case "attempts":
		attempts(args)
	case "orphanage":
		orphanage()
	case "env":
		fmt.Print(strings.Join(os.Environ(), "\n"))
	case "args":
		fmt.Printf("%q", args)
	case "dir":
		dir, _ := os.Getwd()
		fmt.Print(dir)
	case "lastwords": // ends only some time after its stdin has
		io.Copy(io.Discard, os.Stdin)
		fmt.Fprint(os.Stderr, "all saved")
	case "flood": // 100 MB
		block := []byte(strings.Repeat("x", 999) + "\n")
		for range 100_000 {
			os.Stderr.Write(block)
		}
		fmt.Fprintln(os.Stderr, "over")
	case "mutter": // short lines
		n, _ := strconv.Atoi(args[0])
		os.Stderr.WriteString(strings.Repeat("so\n", n))
	case "gulp": // one answer, then gone
		n, _ := strconv.Atoi(args[0])
		os.Stdout.Write(make([]byte, n))
	case "sleep": // ends at SIGTERM
		announce(fmt.Sprintln(os.Getpid()))
		forever()
	case "concealed":
		child.Conceal()
		fmt.Println(os.Getpid())
		forever()
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		announce(fmt.Sprintln(os.Getpid()))
		forever()
	case "family":
		return family(args)
	case "guard":
		if len(args) > 0 {
			return child.RunLaunched(args)
		}
		return guard(child.RunGuard)
	case "leakyguard": // somebody else holds its end of the lifeline
		leak := exec.Command(thisProgram(), "helper", "hold")
		leak.ExtraFiles = []*os.File{os.NewFile(3, "lifeline")}
		if leak.Start() != nil {
			return 1
		}
		return child.RunGuard()
	case "hold":
		for n := 0; n == 0; { // until the other end is closed
			n, _ = unix.Poll([]unix.PollFd{{Fd: 3}}, -1)
		}
	case "bareguard":
		return guard(child.RunBareGuard)
	case "replaced":
		return replaced()
	case "owner":
		return owner(args)
	}
	return 0
}

// guard is the guard process. A data race in it ends it, which no test that uses it survives; its report alone would be
// seen by nobody.
func guard(run func() int) int {
	const halt = "GORACE=halt_on_error=1"
	if !slices.Contains(os.Environ(), halt) {
		syscall.Exec(thisProgram(), os.Args, []string{halt})
	}
	return run()
}

// forever does not return; a bare select would be reported as a deadlock.
func forever() {
	for {
		time.Sleep(time.Hour)
	}
}

// announce tells our number to the family member that started us, or else to the test.
func announce(text string) {
	if os.Getenv("ANNOUNCE") == "" {
		fmt.Print(text)
		return
	}
	starter := os.NewFile(3, "starter")
	fmt.Fprint(starter, text)
	starter.Close()
}

// family starts a relative that inherits stdout and stderr, announces it, then does as args[0] says: "crash" exits at
// once, "eof" exits at the end of stdin, "stay" does not. The rest are traits of the relative: "setsid", "stubborn",
// "double" for one whose parent is gone by then, and "unmarked" for one that hides from its guard.
func family(args []string) int {
	self, traits := args[0], args[1:]
	if slices.Contains(traits, "stubborn") {
		signal.Ignore(syscall.SIGTERM) // the relative inherits this
	}
	if slices.Contains(traits, "unmarked") {
		unmark()
	}
	heard, held, err := os.Pipe()
	if err != nil {
		return 1
	}
	relative := exec.Command(os.Args[0], "helper", "sleep")
	double := slices.Contains(traits, "double")
	switch {
	case double:
		rest := slices.DeleteFunc(slices.Clone(traits), func(s string) bool { return s == "double" })
		relative.Args = append([]string{os.Args[0], "helper", "family", "crash"}, rest...)
	case slices.Contains(traits, "stubborn"):
		relative.Args[2] = "stubborn"
	}
	relative.Stdout, relative.Stderr, relative.ExtraFiles = os.Stdout, os.Stderr, []*os.File{held}
	relative.Env = []string{"ANNOUNCE=3"}
	relative.SysProcAttr = &syscall.SysProcAttr{Setsid: slices.Contains(traits, "setsid")}
	if err := relative.Start(); err != nil {
		return 1
	}
	held.Close()
	text, _ := io.ReadAll(heard)
	if double {
		relative.Wait()
	}
	announce(string(text))
	switch self {
	case "crash":
		return 3
	case "eof":
		io.Copy(io.Discard, os.Stdin)
		return 0
	}
	forever()
	return 0
}

// owner is a program with a guard of its own. It starts a helper with args, prints its number and what that announces,
// and does not return.
func owner(args []string) int {
	g := child.NewGuard([]string{os.Args[0], "helper", "guard"})
	p, err := g.Start(spec(args[0], args[1:]...))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(p.PID())
	io.Copy(os.Stdout, p.Stdout())
	forever()
	return 0
}

// replaced starts a process after its own program was replaced by another.
func replaced() int {
	self, err := os.Executable()
	if err == nil {
		err = os.Remove(self)
	}
	if err == nil {
		err = os.WriteFile(self, []byte("#!/bin/sh\necho replaced >&2\n"), 0o700)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	g := child.NewGuard([]string{self, "helper", "guard"})
	defer g.Close()
	p, err := g.Start(child.Spec{Command: "/bin/cat"})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	p.Stop(context.Background(), child.Grace{})
	fmt.Println("started")
	return 0
}
