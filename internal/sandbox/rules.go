// Package sandbox confines a process, with all that it starts, to some files and to some or none of the network.
//
//	Plan    what one program needs and what its user allows      → Rules, and variables of its environment
//	Rules   what is enforced; Missing says what cannot be here
//
// On Linux a thread takes the rules on itself (Landlock for files, TCP ports and signals; a seccomp filter for other
// sockets) and starts the process, which inherits them: that needs no privileges and no other program in between. On
// macOS the process is started by sandbox-exec with a profile. Elsewhere nothing can be enforced.
package sandbox

import (
	"fmt"
	"slices"
	"strings"
)

// Rules say what a process may do. All that is not said is denied. What a file system, the user's rights and the like
// deny besides stays denied.
type Rules struct {
	Read  []string // files, and folders with all that is in them, that may be read and run
	Write []string // the same, that may be changed too

	Network bool     // sockets of all kinds
	Ports   []uint16 // without Network: TCP connections to these ports
	Unix    bool     // sockets of the file system that others listen on
}

// String words the rules in lines, for people.
func (r *Rules) String() string {
	var b strings.Builder
	system := slices.Concat(systemFiles(), devices())
	list := func(what string, paths []string) {
		paths = slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return slices.Contains(system, path) })
		for i, path := range paths {
			if i > 0 {
				what = strings.Repeat(" ", len(what))
			}
			fmt.Fprintf(&b, "%s  %s\n", what, path)
		}
	}
	list("writes ", r.Write)
	list("reads  ", r.Read)
	if slices.ContainsFunc(r.Read, func(path string) bool { return slices.Contains(system, path) }) {
		fmt.Fprintf(&b, "reads    the programs, libraries and settings of the system\n")
	}
	switch {
	case r.Network:
		fmt.Fprintf(&b, "network  all\n")
	case len(r.Ports) > 0:
		fmt.Fprintf(&b, "network  TCP connections to the ports %s\n", strings.Trim(fmt.Sprint(r.Ports), "[]"))
	default:
		fmt.Fprintf(&b, "network  none\n")
	}
	if r.Unix {
		fmt.Fprintf(&b, "sockets  of the file system\n")
	}
	return b.String()
}

// tidy sorts paths and leaves out those that lie in others.
func tidy(paths []string, in ...string) []string {
	paths = slices.Clone(paths)
	slices.Sort(paths)
	var kept []string
	for _, path := range slices.Compact(paths) {
		inside := func(folder string) bool {
			return path == folder || folder == "/" || strings.HasPrefix(path, folder+"/")
		}
		if !slices.ContainsFunc(kept, inside) && !slices.ContainsFunc(in, inside) {
			kept = append(kept, path)
		}
	}
	return kept
}
