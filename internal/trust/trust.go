// Package trust keeps which files of projects their user has looked at and trusted, and as what.
//
// A file is known by its path, whose folders are the real ones, and by the digest of its content: the same content
// elsewhere and other content at the same path are not trusted. Each file has an entry in a folder of the user's own,
// so that two programs which trust two files at a time do not wait for each other and lose nothing.
package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/openfile"
)

// maxEntry is the most bytes that an entry may have: what was shown of a file is in it.
const maxEntry = 32 << 20

// Store is the folder of the entries.
type Store struct{ folder string }

// New returns the store in a folder, which is made when there is something to keep.
func New(folder string) *Store { return &Store{folder} }

// Entry says that the user trusts a file.
type Entry struct {
	Path   string    `json:"path"`
	Digest string    `json:"sha256"` // of the content that is trusted
	Since  time.Time `json:"since,omitzero"`
	Shown  []string  `json:"shown,omitempty"` // what the user saw of it, line by line
}

// Digest is what content is known by.
func Digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// File is where the entry of a path is, if there is one.
func (s *Store) File(path string) string {
	return filepath.Join(s.folder, Digest([]byte(path))+".json")
}

// Get returns the entry of a path; false if there is none. An entry that others can write is none, and an error.
func (s *Store) Get(path string) (e Entry, ok bool, err error) {
	e, err = s.read(s.File(path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Entry{}, false, nil
	case err == nil && e.Path != path:
		err = fmt.Errorf("%s is of another file than its name says (remove it)", s.File(path))
	}
	if err != nil {
		return Entry{}, false, err
	}
	return e, true, nil
}

func (s *Store) read(file string) (e Entry, err error) {
	data, _, err := openfile.ReadTrusted(file, maxEntry)
	if err == nil {
		if err = json.Unmarshal(data, &e); err != nil {
			err = fmt.Errorf("%s: %w (remove it)", file, foreign.NewError(err))
		}
	}
	return e, err
}

// Put keeps an entry in place of the one of its path.
func (s *Store) Put(e Entry) error {
	if err := openfile.MakeFolder(s.folder, 0o700); err != nil {
		return err
	}
	data, err := json.MarshalIndent(e, "", " ")
	if err != nil {
		return err
	}
	return openfile.Replace(s.File(e.Path), append(data, '\n'))
}

// Remove takes the entry of a path away; it reports false if there was none.
func (s *Store) Remove(path string) (bool, error) {
	err := openfile.Remove(s.File(path))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// List returns all entries by path. The error joins those of entries that cannot be read, which are left out.
func (s *Store) List() ([]Entry, error) {
	files, err := os.ReadDir(s.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []Entry
	faults := []error{err}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".json") || strings.HasPrefix(f.Name(), openfile.Prefix) {
			continue
		}
		e, err := s.read(filepath.Join(s.folder, f.Name()))
		if err != nil {
			faults = append(faults, err)
			continue
		}
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	return all, errors.Join(faults...)
}
