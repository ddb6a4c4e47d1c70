package document

import (
	"bytes"
	"path"
	"strings"
)

// MaxFileSize is how many bytes a file may have.
const MaxFileSize = 1 << 20

// Read parses one file. The name decides the language: .yaml and .yml are
// YAML, .json is JSON, and with any other name the first character does. The
// name is not opened. A file that cannot be read is one fault, and nil.
func Read(name string, data []byte, fs *Faults) *Node {
	if len(data) > MaxFileSize {
		fs.Add(nil, "", "the file has %d bytes; at most %d are read", len(data), MaxFileSize)
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
