package meaning

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"path/filepath"

	"github.com/mcp-workbench/workbench/internal/openfile"
)

// A file is a line that says what it is, then for each vector the digest of its text, how many numbers it has, and
// these, and then the digest of all that.
const (
	header  = "workbench meanings 1\n"
	maxFile = int64(maxKept) * (sha256.Size + 2 + maxLength)
)

// load reads the file. One that is torn or foreign is as good as none. m.mu must be held.
func (m *Meanings) load() {
	if m.file == "" {
		return
	}
	data, _, err := openfile.Read(m.file, maxFile)
	if err != nil || len(data) < len(header)+sha256.Size || !bytes.HasPrefix(data, []byte(header)) {
		return
	}
	body, sum := data[:len(data)-sha256.Size], data[len(data)-sha256.Size:]
	if got := sha256.Sum256(body); !bytes.Equal(got[:], sum) {
		return
	}
	for rest := body[len(header):]; len(rest) >= sha256.Size+2; {
		n := int(binary.BigEndian.Uint16(rest[sha256.Size:]))
		at := sha256.Size + 2
		if n == 0 || n > len(rest)-at {
			return
		}
		v := make([]int8, n)
		for i, b := range rest[at : at+n] {
			v[i] = int8(b)
		}
		m.vectors[digest(rest[:sha256.Size])] = v
		rest = rest[at+n:]
	}
}

// store keeps the vectors for later runs; what cannot be kept is asked for again then.
func (m *Meanings) store() {
	if m.file == "" {
		return
	}
	data := []byte(header)
	m.mu.Lock()
	for key, v := range m.vectors {
		data = append(data, key[:]...)
		data = binary.BigEndian.AppendUint16(data, uint16(len(v)))
		for _, x := range v {
			data = append(data, byte(x))
		}
	}
	m.mu.Unlock()
	sum := sha256.Sum256(data)
	if openfile.MakeFolder(filepath.Dir(m.file), 0o700) == nil {
		_ = openfile.Cache(m.file, append(data, sum[:]...)) // it is a cache
	}
}
