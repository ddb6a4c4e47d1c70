package results

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/mcp-workbench/workbench/internal/openfile"
)

// What is kept, in bytes and results.
const (
	mostInAll     = 512 << 20
	mostOfSession = 128 << 20
	mostResults   = 64
)

// Prefix is what the addresses of kept results begin with.
const Prefix = "workbench://results/"

// Store is where a process keeps results.
type Store struct {
	dirs []string

	mu   sync.Mutex
	kept int64
}

// New makes a store that keeps its files in the first of the folders that will do.
func New(dirs []string) *Store { return &Store{dirs: dirs} }

// Shelf makes the part of one session. It is to be closed. That of a nil Store keeps nothing.
func (s *Store) Shelf() *Shelf { return &Shelf{store: s} }

// charge takes n more bytes; it reports false if there is no room.
func (s *Store) charge(n int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept+n > mostInAll {
		return false
	}
	s.kept += n
	return true
}

// scratch makes a file that nobody else can open.
func (s *Store) scratch() (*os.File, error) {
	return openfile.InFirst(s.dirs, func(dir string) (*os.File, error) {
		if err := openfile.MakeFolder(dir, 0o700); err != nil {
			return nil, err
		}
		return openfile.Scratch(dir)
	})
}

// Shelf is what is kept for one session.
type Shelf struct {
	store *Store

	// reading is held while a result is read, which takes memory and may take time; what is kept meanwhile does not
	// wait for it.
	reading sync.Mutex

	mu      sync.Mutex
	closed  bool
	kept    int64
	results []*kept // the oldest first
}

// kept is one result.
type kept struct {
	id    string
	file  *os.File
	text  int64 // how long the text is, which stands first
	raw   int64 // and the result as the server wrote it
	json  bool  // the text is JSON
	lines int64
	marks []int64 // where the lines 0, lineStep, 2*lineStep … begin
}

// lineStep is how many lines lie between two that are remembered.
const lineStep = 128

var errGone = errors.New("no result of that id is kept: results are kept until the session ends, and the oldest make room for new ones; call the tool again")

var errClosed = errors.New("the session is closed")

// put keeps a result; the oldest ones make room for it.
func (s *Shelf) put(text, raw []byte) (*kept, error) {
	k := &kept{id: strings.ToLower(rand.Text()), text: int64(len(text)), raw: int64(len(raw))}
	k.json = isJSON(text)
	k.index(text)
	size := k.text + k.raw
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.store == nil:
		return nil, openfile.ErrNowhere
	case s.closed:
		return nil, errClosed
	case size > mostOfSession:
		return nil, fmt.Errorf("it has %d bytes; at most %d are kept for a client", size, mostOfSession)
	}
	for len(s.results) > 0 && (s.kept+size > mostOfSession || len(s.results) >= mostResults) {
		s.dropLocked()
	}
	for !s.store.charge(size) {
		if len(s.results) == 0 {
			return nil, fmt.Errorf("results of %d bytes are kept for other clients, which is the limit", mostInAll)
		}
		s.dropLocked()
	}
	var err error
	if k.file, err = s.store.scratch(); err == nil {
		if _, err = k.file.Write(text); err == nil {
			_, err = k.file.Write(raw)
		}
		if err != nil {
			_ = k.file.Close() // nobody reads it
		}
	}
	if err != nil {
		s.store.charge(-size)
		return nil, err
	}
	s.kept += size
	s.results = append(s.results, k)
	return k, nil
}

// dropLocked forgets the oldest result.
func (s *Shelf) dropLocked() {
	k := s.results[0]
	s.results = s.results[1:]
	s.kept -= k.text + k.raw
	s.store.charge(-k.text - k.raw)
	_ = k.file.Close() // it has no name, so it is gone
}

// Close forgets all results.
func (s *Shelf) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for len(s.results) > 0 {
		s.dropLocked()
	}
}

// find returns the result of an id or an address, and which part of it is meant. It may be forgotten while it is read.
func (s *Shelf) find(id string) (k *kept, part string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, part, _ = strings.Cut(strings.TrimPrefix(id, Prefix), ".")
	for _, k := range s.results {
		if k.id == id {
			return k, part, nil
		}
	}
	return nil, "", errGone
}

// read returns n bytes of the file from there on.
func (k *kept) read(from, n int64) ([]byte, error) {
	data := make([]byte, n)
	switch _, err := k.file.ReadAt(data, from); {
	case errors.Is(err, os.ErrClosed):
		return nil, errGone
	case err != nil && !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("the kept result cannot be read: %w", err)
	}
	return data, nil
}
