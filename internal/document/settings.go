package document

import (
	"bytes"
	"path/filepath"
	"strings"
)

// MaxSettings is how many bytes a file of settings may have: some programs keep all that they know in theirs.
const MaxSettings = 32 << 20

// ReadSettings parses a file of settings that another program reads too: JSON with comments and trailing commas, YAML, or
// TOML. The name decides as for [Read], and a .toml is TOML. A file that cannot be read is one fault, and nil.
func ReadSettings(name string, data []byte, fs *Faults) *Node {
	if len(data) > MaxSettings {
		fs.Add(nil, "", "the file has %d bytes; at most %d are read", len(data), MaxSettings)
		return nil
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml":
		return readYAML(data, fs)
	case ".toml":
		return readTOML(data, fs)
	case ".json", ".jsonc":
		return readComments(data, fs)
	}
	if start := bytes.TrimSpace(data); len(start) > 0 && (start[0] == '{' || start[0] == '/') {
		return readComments(data, fs)
	}
	return readYAML(data, fs)
}
