// Package faults words the faults of files as commands print them.
package faults

import (
	"fmt"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// At gives the place of a fault as editors understand it.
func At(file string, f definition.Fault) string {
	place := foreign.NewText(file).String()
	if f.Line == 0 {
		return place
	}
	return fmt.Sprintf("%s:%d:%d", place, f.Line, f.Column)
}

// Body is a fault without its place.
func Body(f definition.Fault) string {
	f.Line, f.Column = 0, 0
	return f.String()
}
