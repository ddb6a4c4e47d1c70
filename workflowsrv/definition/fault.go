package definition

import (
	"strings"

	"github.com/mcp-workbench/workbench/internal/document"
)

// A Fault is one thing that is wrong, or doubtful, in a file.
type Fault = document.Fault

// An Error holds every fault of a file that is no valid workflow.
type Error struct {
	// File is the name that was given to the parser, and ID the id that stands in the file, if it could be read.
	File, ID string
	// Faults are in the order of the file; there is at least one.
	Faults []Fault
}

// Error gives all faults, one a line, each with the name of the file.
func (e *Error) Error() string {
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		sep := ": "
		if f.Line > 0 {
			sep = ":"
		}
		lines[i] = e.File + sep + f.String()
	}
	return strings.Join(lines, "\n")
}
