// Command badchild is an MCP server that is well but for one fault, for tests: its argument names the fault. Faults of
// the start happen by themselves, the others when its tool "fault" is called. Its tool "echo" answers with what it is
// given, "pid" with its process, and "heard" with the notifications that came.
package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) < 2 {
		usage()
	}
	m, known := modes()[os.Args[1]]
	if !known {
		usage()
	}
	s := newServer(m, os.Args[2:])
	if m.start != nil {
		m.start(s)
	}
	s.serve()
	if m.end != nil {
		m.end(s)
	}
}

// usage ends the program.
func usage() {
	names := slices.Sorted(maps.Keys(modes()))
	fmt.Fprintf(os.Stderr, "usage: badchild FAULT [ARGUMENT…], with one of the faults %s\n", strings.Join(names, ", "))
	os.Exit(2)
}

// mode is a fault. What is nil is as it should be.
type mode struct {
	start func(s *server)                 // before anything is read
	take  func(s *server, r request) bool // sees each request first, and reports whether that was all
	fault func(s *server, r request)      // is the tool "fault", on a goroutine of its own
	end   func(s *server)                 // after the end of the input
}

// modes are all faults by name.
func modes() map[string]mode {
	all := starts()
	maps.Copy(all, protocols())
	maps.Copy(all, calls())
	maps.Copy(all, words())
	maps.Copy(all, hoards())
	return all
}
