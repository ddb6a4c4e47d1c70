// Package guardian makes a process the guard of package child before the rest of its program is initialised.
//
// Go initialises packages in the order of their import paths, as far as what they import allows (The Go Programming
// Language Specification, "Program initialization"). Here that is before the libraries for schemas, metrics and
// documents, which would cost the guard, of which each workbench has one, a third of its memory and most of its start.
// It is so as long as package child does not import net, which waits for packages that are among the last.
package guardian

import (
	"os"

	"github.com/mcp-workbench/workbench/internal/child"
)

// Arg, first on the command line of a program that imports this package, makes it a guard, or with more behind it what
// that launches. It is not for people.
const Arg = "__guard"

func init() {
	switch {
	case len(os.Args) < 2 || os.Args[1] != Arg:
	case len(os.Args) == 2:
		os.Exit(child.RunGuard())
	default:
		os.Exit(child.RunLaunched(os.Args[2:]))
	}
}
