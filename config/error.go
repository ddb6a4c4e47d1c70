package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Error is everything that is wrong with a configuration, or with the variables of one server, in the order of the
// file.
type Error struct {
	Faults []Fault
}

// Fault is one thing that is wrong, and where.
type Fault struct {
	File    string
	Line    int    // from 1; 0 when the fault belongs to the file as a whole
	Column  int    // in characters, from 1
	Path    string // of the value, like toolboxes.dev.mcpServers.git.args[1]; "" for the whole file
	Message string // what is wanted and what was got; never a value of env, headers, args, url or of a variable
	Hint    string // what to do about it, or ""
}

// Error returns the faults, one a line. From a file with more than a hundred it returns so many, and the number of the
// others.
func (e *Error) Error() string {
	const most = 100
	lines := make([]string, 0, min(len(e.Faults), most+1))
	for i, f := range e.Faults {
		if i == most {
			lines = append(lines, fmt.Sprintf("%s: and %d more", f.File, len(e.Faults)-most))
			break
		}
		lines = append(lines, f.String())
	}
	return strings.Join(lines, "\n")
}

// String returns the fault in one line: `file:line:column: path: message (hint)`.
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

// newError brings faults into the order of the file.
func newError(faults []Fault) *Error {
	slices.SortStableFunc(faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return &Error{Faults: faults}
}
