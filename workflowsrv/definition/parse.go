package definition

import (
	"encoding/json"

	"github.com/mcp-workbench/workbench/internal/document"
)

// MaxFileSize is how many bytes a file may have.
const MaxFileSize = document.MaxFileSize

// Parse reads one file. The name decides the language: .yaml and .yml are YAML, .json is JSON, and with any other name
// the first character does. The name is not opened. A call of a routine is a fault. The error is an [*Error] with every
// fault found.
func Parse(name string, data []byte) (*Workflow, error) {
	return ParseWith(name, data, nil)
}

// ParsePinned reads what a [Workflow] has as Pinned.
func ParsePinned(name string, data []byte) (*Workflow, error) {
	var all []json.RawMessage
	if len(data) == 0 || data[0] != '[' || json.Unmarshal(data, &all) != nil || len(all) == 0 {
		return Parse(name, data)
	}
	routines := Routines{}
	for _, text := range all[1:] {
		r, err := Parse(name, text)
		if err != nil {
			return nil, err
		}
		routines.Add(r, name)
	}
	return ParseWith(name, all[0], routines)
}

// ParseWith is Parse for files that may call routines.
func ParseWith(name string, data []byte, routines Routines) (*Workflow, error) {
	var fs document.Faults
	doc, isWorkflow := document.Read(name, data, &fs), false
	switch {
	case doc == nil:
	case doc.Kind != document.Object:
		fs.Add(doc, "", "a workflow is an object")
	case doc.Get("id") == nil && doc.Get("steps") == nil:
		fs.Add(doc, "", `not a workflow: neither "id" nor "steps" is there`)
	default:
		isWorkflow = true // also one whose keys are there twice: all its faults are told, under its id
	}
	if !isWorkflow {
		return nil, &Error{File: name, Faults: fs.Sorted()}
	}
	compiled().Check(doc, &fs)
	if len(fs) > 0 {
		// What follows trusts the shapes that the schema has promised.
		(&builder{faults: &fs, warnings: new(document.Faults)}).soundSteps(doc)
		return nil, &Error{File: name, ID: doc.Str("id"), Faults: fs.Sorted()}
	}
	b := &builder{faults: &fs, warnings: new(document.Faults), routines: routines}
	w := b.workflow(doc)
	if len(fs) > 0 {
		return nil, &Error{File: name, ID: w.ID, Faults: fs.Sorted()}
	}
	w.Warnings = b.warnings.Sorted()
	return w, nil
}
