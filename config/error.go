package config

import (
	"fmt"
	"strings"
)

// Error is everything that is wrong with a configuration, in the order of the file.
type Error struct {
	Faults []Fault
}

// Fault is one thing that is wrong, and where.
type Fault struct {
	File    string
	Line    int    // from 1; 0 when the fault belongs to the file as a whole
	Column  int    // in characters, from 1
	Path    string // of the value, like toolboxes.dev.mcpServers.git.args[1]; "" for the whole file
	Message string // what is wanted and what was got
	Hint    string // what to do about it, or ""
}

// Error returns one line per fault, `file:line:column: path: message`, each hint in brackets behind it.
func (e *Error) Error() string {
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// String returns the fault in one line.
func (f Fault) String() string {
	var b strings.Builder
	b.WriteString(f.File)
	if f.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", f.Line, f.Column)
	}
	b.WriteString(": ")
	if f.Path != "" {
		b.WriteString(f.Path)
		b.WriteString(": ")
	}
	b.WriteString(f.Message)
	if f.Hint != "" {
		fmt.Fprintf(&b, " (%s)", f.Hint)
	}
	return b.String()
}
