package definition

import (
	"bytes"
	"path"
	"strings"
	"sync"
)

// MaxFileSize is how many bytes a file may have.
const MaxFileSize = 1 << 20

// A Parser reads workflow files. The zero value is ready; the schema is
// compiled when it is first needed. Any number of goroutines may use one.
type Parser struct {
	once   sync.Once
	schema *schemaChecker
}

// Parse reads one file. The name decides the language: .yaml and .yml are
// YAML, .json is JSON, and with any other name the first character does. The
// name is not opened. The error is an [*Error] with every fault found.
func (p *Parser) Parse(name string, data []byte) (*Workflow, error) {
	var fs faults
	doc := readDocument(name, data, &fs)
	if doc == nil {
		return nil, &Error{File: name, Faults: fs.sorted()}
	}
	if doc.kind != object {
		fs.add(doc, "", "a workflow is an object")
		return nil, &Error{File: name, Faults: fs}
	}
	if doc.get("id") == nil && doc.get("steps") == nil {
		fs.add(doc, "", `not a workflow: neither "id" nor "steps" is there`)
		return nil, &Error{File: name, Faults: fs}
	}
	p.once.Do(func() { p.schema = newSchemaChecker() })
	p.schema.check(doc, &fs)
	if len(fs) > 0 {
		// What follows trusts the shapes that the schema has promised.
		return nil, &Error{File: name, ID: doc.str("id"), Faults: fs.sorted()}
	}
	b := &builder{faults: &fs, warnings: new(faults)}
	w := b.workflow(doc)
	if len(fs) > 0 {
		return nil, &Error{File: name, ID: w.ID, Faults: fs.sorted()}
	}
	w.Warnings = b.warnings.sorted()
	return w, nil
}

// readDocument chooses the language and parses data.
func readDocument(name string, data []byte, fs *faults) *node {
	if len(data) > MaxFileSize {
		fs.add(nil, "", "the file has %d bytes; at most %d are read", len(data), MaxFileSize)
		return nil
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	switch strings.ToLower(path.Ext(name)) {
	case ".json":
		return readJSON(data, fs)
	case ".yaml", ".yml":
		return readYAML(data, fs)
	}
	if start := bytes.TrimSpace(data); len(start) > 0 && start[0] == '{' {
		return readJSON(data, fs)
	}
	return readYAML(data, fs)
}
