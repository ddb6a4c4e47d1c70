package oauth

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/slots"
)

// Store keeps logins, a file each, which only their owner can read. Several processes may use one at a time.
type Store struct {
	dir   string
	turns *slots.Slots
}

// NewStore keeps logins in a directory, which is made, with mode 0700, when the first is kept.
func NewStore(dir string) *Store { return &Store{dir: dir, turns: slots.New(dir, 1)} }

// maxLogin is the most bytes that a kept login may have.
const maxLogin = 1 << 20

// path is where the login to a server is kept.
func (s *Store) path(server string) string {
	sum := sha256.Sum256([]byte(server))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:16])+".json")
}

// read returns what is known of a server: of one that nothing is known of, its address alone.
func (s *Store) read(server string) (record, error) {
	r := record{Server: server}
	path := s.path(server)
	data, _, err := openfile.Read(path, maxLogin)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r, nil
	case err != nil:
		return r, fmt.Errorf("the kept login cannot be read: %w", err)
	}
	if err := json.Unmarshal(data, &r); err != nil || r.Server != server {
		return record{Server: server}, fmt.Errorf("the kept login cannot be read: %s is damaged; remove it and log in again", path)
	}
	return r, nil
}

// change lets f change what is known of a server, and keeps it, also when f fails. While f runs no other process
// changes it.
func (s *Store) change(ctx context.Context, server string, f func(*record) error) error {
	done, err := s.turns.Take(ctx, server)
	if err != nil {
		return fmt.Errorf("the login cannot be kept: %w", err)
	}
	defer done()
	r, err := s.read(server)
	if err != nil {
		return err
	}
	before, _ := json.Marshal(r)
	failed := f(&r)
	after, err := json.Marshal(r)
	if err == nil && !bytes.Equal(before, after) {
		err = openfile.Replace(s.path(server), after)
	}
	if err != nil {
		err = fmt.Errorf("the login cannot be kept: %w", err)
	}
	return errors.Join(failed, err)
}
