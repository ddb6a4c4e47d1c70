package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// starts are the faults of a process that starts or ends.
func starts() map[string]mode {
	return map[string]mode{
		"well": {},
		"crashstart": {start: func(*server) {
			for i := range 30 {
				fmt.Fprintf(os.Stderr, "line %d\n", i)
			}
			fmt.Fprintln(os.Stderr, "\x1b[31mcannot read the licence file\x1b[0m")
			os.Exit(7)
		}},
		"exit0": {start: func(*server) { os.Exit(0) }},
		// It starts when there is a file of that name.
		"slowstart": {start: func(s *server) { waitFor(s.arg(0)) }},
		"banner":    {start: func(s *server) { s.write("Welcome!\n\n  * listening on stdio\n") }},
		"ignoreterm": {
			start: func(*server) { signal.Ignore(syscall.SIGTERM) },
			end:   func(*server) { forever() },
		},
		"ignoreeof": {end: func(*server) { forever() }, fault: func(*server, request) { forever() }},
		// A process in its own session, whose parent is gone.
		"daemon": {start: func(*server) { relative("parent") }},
		"parent": {start: func(*server) {
			relative("sleeper")
			os.Exit(0)
		}},
		// A process that ignores all requests to end, in the group of its parent.
		"family": {start: func(*server) { kin() }, fault: crash},
		"sleeper": {start: func(*server) {
			signal.Ignore(syscall.SIGTERM)
			forever()
		}},
	}
}

// forever does not return.
func forever() {
	for {
		time.Sleep(time.Hour)
	}
}

// waitFor returns when there is a file of that name; nothing tells of that on all systems.
func waitFor(name string) {
	for {
		if _, err := os.Stat(name); err == nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// crash ends the process with some last words.
func crash(*server, request) {
	fmt.Fprintln(os.Stderr, "\x1b[31mlast words\x1b[0m")
	os.Exit(9)
}

// relative starts a process of this program in a session of its own and waits for the process if it is a parent.
func relative(mode string) {
	cmd := exec.Command(os.Args[0], mode)
	cmd.SysProcAttr = ownSession()
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "badchild:", err)
		os.Exit(1)
	}
	if mode == "parent" {
		_ = cmd.Wait()
	}
}

// kin starts a process that keeps our standard output and error open.
func kin() {
	cmd := exec.Command(os.Args[0], "sleeper")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "badchild:", err)
		os.Exit(1)
	}
}
