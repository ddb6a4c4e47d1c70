package command

import (
	"strings"

	"github.com/mcp-workbench/workbench/internal/document"
)

// A Fault is one thing that is wrong, or doubtful, in a file of a workflow.
type Fault struct {
	File string `json:"file"` // from the folder, with slashes
	document.Fault
}

// String gives the fault as "file:line:column: path: message".
func (f Fault) String() string {
	if f.Line == 0 {
		return f.File + ": " + f.Fault.String()
	}
	return f.File + ":" + f.Fault.String()
}

// A FolderError holds every fault of a folder that is no valid workflow.
type FolderError struct {
	// Faults are in the order of the files, and within one in its order; there is at least one.
	Faults []Fault
	// Warnings are what is doubtful besides.
	Warnings []Fault
}

// Error gives all faults, one a line.
func (e *FolderError) Error() string {
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}
