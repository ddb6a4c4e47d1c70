package document

import (
	"bytes"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxFileSize is how many bytes a file may have, and MaxSettings how many a file of settings may have: some programs
// keep all that they know in theirs.
const (
	MaxFileSize = 1 << 20
	MaxSettings = 32 << 20
)

var (
	errDeep = errors.New("nested deeper than " + strconv.Itoa(maxDepth) + " levels")
	errMany = errors.New("more than " + strconv.Itoa(maxNodes) + " values")
)

// Read parses one file. The name decides the language: .yaml and .yml are YAML, .json is JSON, and with any other name
// the first character does. The name is not opened. A file that cannot be read is one fault, and nil.
func Read(name string, data []byte, fs *Faults) *Node {
	return read(name, data, fs, false)
}

// ReadSettings parses a file of settings that another program reads too: JSON with comments and trailing commas, YAML,
// or TOML. The name decides as for [Read], and a .toml is TOML. A file that cannot be read is one fault, and nil.
func ReadSettings(name string, data []byte, fs *Faults) *Node {
	return read(name, data, fs, true)
}

func read(name string, data []byte, fs *Faults, settings bool) *Node {
	most := MaxFileSize
	if settings {
		most = MaxSettings
	}
	if len(data) > most {
		fs.Add(nil, "", "the file has %d bytes; at most %d are read", len(data), most)
		return nil
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	at := &cursor{data: data, line: 1, column: 1}
	if !isText(at, fs) {
		return nil
	}
	first := bytes.TrimSpace(data)
	switch ext := strings.ToLower(filepath.Ext(name)); {
	case ext == ".yaml" || ext == ".yml":
	case settings && ext == ".toml":
		return readTOML(at, fs)
	case ext == ".json" || settings && ext == ".jsonc",
		len(first) > 0 && (first[0] == '{' || settings && first[0] == '/'):
		return readJSON(at, fs, settings)
	}
	return readYAML(data, fs)
}

// isText adds the fault of a file that is not UTF-8, or stands for another one.
func isText(at *cursor, fs *Faults) bool {
	data := at.data
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) ||
		// Without a mark: the first character of a file is ASCII, and its other half is zero.
		len(data) > 1 && (data[0] == 0) != (data[1] == 0) {
		fs.Add(nil, "", "the file is UTF-16; save it as UTF-8")
		return false
	}
	if bytes.HasPrefix(data, []byte("version https://git-lfs.github.com/spec/")) {
		fs.Add(nil, "", "the file is a pointer of Git LFS in place of its content; keep it in git itself, or fetch it with git lfs pull")
		return false
	}
	if utf8.Valid(data) {
		return true
	}
	i := 0
	for c, n := utf8.DecodeRune(data); c != utf8.RuneError || n > 1; c, n = utf8.DecodeRune(data[i:]) {
		i += n
	}
	fs.Add(at.to(i), "", "here is a byte that is not UTF-8; save the file as UTF-8")
	return false
}

// A cursor counts lines and columns of a file as the offsets grow.
type cursor struct {
	data         []byte
	counted      int // data[:counted] is counted in line and column
	line, column int
}

// to goes on to an offset and returns a Node that stands there. A smaller offset than the last stays at the last.
func (c *cursor) to(offset int) *Node {
	for offset = min(offset, len(c.data)); c.counted < offset; c.counted++ {
		switch b := c.data[c.counted]; {
		case b == '\n':
			c.line, c.column = c.line+1, 1
		case utf8.RuneStart(b):
			c.column++
		}
	}
	return &Node{Line: c.line, Column: c.column}
}
