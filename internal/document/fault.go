package document

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-workbench/workbench/internal/nearest"
)

// A Fault is one thing that is wrong, or doubtful, in a file.
type Fault struct {
	// Path is the JSON Pointer (RFC 6901) of the value; "" is the whole file.
	Path string `json:"path"`
	// Line and Column count from 1; columns are characters. Both are 0 where the place is unknown, as for a file that
	// could not be read.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Message says what is wrong, in a few words and without the place.
	Message string `json:"message"`
}

// String gives the fault as "line:column: path: message", without the parts that are unknown.
func (f Fault) String() string {
	var b strings.Builder
	if f.Line > 0 {
		fmt.Fprintf(&b, "%d:%d: ", f.Line, f.Column)
	}
	if f.Path != "" {
		b.WriteString(f.Path)
		b.WriteString(": ")
	}
	b.WriteString(f.Message)
	return b.String()
}

// Faults collects what is found wrong in a document.
type Faults []Fault

// Add notes a fault at n, or at no known place where n is nil.
func (fs *Faults) Add(n *Node, path, format string, args ...any) {
	f := Fault{Path: path, Message: fmt.Sprintf(format, args...)}
	if n != nil {
		f.Line, f.Column = n.Line, n.Column
	}
	*fs = append(*fs, f)
}

// maxFaults bounds how many faults of one file are told, maxSuggestions for how many of them a name is looked for that
// could have been meant, and maxCandidates among how many names.
const (
	maxFaults      = 200
	maxSuggestions = 20
	maxCandidates  = 500
)

// Sorted gives the faults in the order of the file, each once, and behind the most that are told the number of the
// others.
func (fs Faults) Sorted() []Fault {
	slices.SortStableFunc(fs, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Path, b.Path), cmp.Compare(a.Message, b.Message))
	})
	list := slices.Compact(fs)
	if more := len(list) - maxFaults; more > 0 {
		list = append(list[:maxFaults:maxFaults], Fault{Message: fmt.Sprintf("and %d more", more)})
	}
	return list
}

// DidYouMean gives the half sentence that names the likest candidate, or "".
func (fs Faults) DidYouMean(name string, candidates []string) string {
	if len(fs) >= maxSuggestions || len(candidates) > maxCandidates {
		return ""
	}
	near := nearest.Names(name, candidates, 1)
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + strconv.Quote(near[0]) + "?"
}

// Lines gives the faults of a file, one a line, each with the name of the file.
func Lines(file string, faults []Fault) string {
	lines := make([]string, len(faults))
	for i, f := range faults {
		sep := ": "
		if f.Line > 0 {
			sep = ":"
		}
		lines[i] = file + sep + f.String()
	}
	return strings.Join(lines, "\n")
}
