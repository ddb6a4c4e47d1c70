package definition

import (
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
func (e *Error) Error() string { return document.Lines(e.File, e.Faults) }
