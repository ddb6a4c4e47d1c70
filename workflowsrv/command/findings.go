package command

import (
	"github.com/mcp-workbench/workbench/internal/document"
)

// findings are what is wrong with the files of a workflow, and what is doubtful, by file.
type findings struct {
	faults, warnings map[string]*document.Faults
}

// fault notes what is wrong at n.
func (f *findings) fault(file string, n *document.Node, path, format string, args ...any) {
	into(f.faults, file).Add(n, path, format, args...)
}

// warn notes what is doubtful at n.
func (f *findings) warn(file string, n *document.Node, path, format string, args ...any) {
	into(f.warnings, file).Add(n, path, format, args...)
}

// into gives the place for what is found in a file.
func into(set map[string]*document.Faults, file string) *document.Faults {
	if set[file] == nil {
		set[file] = new(document.Faults)
	}
	return set[file]
}

func sorted(set map[string]*document.Faults) []Fault {
	var list []Fault
	for _, file := range sortedKeys(set) {
		for _, f := range set[file].Sorted() {
			list = append(list, Fault{file, f})
		}
	}
	return list
}
