package catalogue

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/openfile"
)

// Bounds of the folder.
const (
	maxFile  = 16 << 20
	maxTotal = 64 << 20
	maxAge   = 90 * 24 * time.Hour
	// touchAfter is how old the mark of the last use may become before it is renewed by reading.
	touchAfter = 24 * time.Hour
)

// Key names an entry: how the server is started or reached, and for which client. Both are digests, so that nothing of
// what they were made from can be read from the name of a file.
type Key struct {
	// Server and Client are lower-case hexadecimal digits, as [Digest] gives them.
	Server, Client string
}

func (k Key) String() string { return k.Server + "-" + k.Client }

// Digest gives the part of a Key for what tells a server, or a client, from others.
func Digest(of []byte) string {
	sum := sha256.Sum256(of)
	return hex.EncodeToString(sum[:16])
}

// Catalogue is one folder of entries. It is safe for concurrent use, also by several processes.
type Catalogue struct {
	dir string
	log zerolog.Logger

	mu     sync.Mutex
	pruned time.Time // the last time
	put    int64     // bytes that were put since then
	fault  error     // of the last entry that was to be put there
}

// To look through the folder takes time for each file in it, so that is not done each time that something is put there.
const (
	pruneEvery = time.Hour
	pruneAfter = maxTotal / 16 // so many bytes were put
)

// New gives the catalogue in a folder, which is made when something is put there. What cannot be read or kept is said
// to log, at debug.
func New(dir string, log zerolog.Logger) *Catalogue { return &Catalogue{dir: dir, log: log} }

const suffix = ".mcp"

func (c *Catalogue) path(k Key) string { return filepath.Join(c.dir, k.String()+suffix) }

// Get returns the entry of a key; nil if there is none that can be used.
func (c *Catalogue) Get(k Key) *Entry {
	e, err := c.read(k)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			c.log.Debug().AnErr(logkey.Err, err).Msg("a catalogue file is ignored")
		}
		return nil
	}
	return e
}

func (c *Catalogue) read(k Key) (*Entry, error) {
	path := c.path(k)
	data, info, err := openfile.Read(path, maxFile)
	if err != nil {
		return nil, err
	}
	e, err := decode(k, data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if now := time.Now(); now.Sub(info.ModTime()) > touchAfter {
		// It only keeps the file from being taken for one that nobody uses.
		_ = os.Chtimes(path, time.Time{}, now)
	}
	return e, nil
}

// Put keeps an entry in place of the one before it.
func (c *Catalogue) Put(k Key, e *Entry) {
	data := encode(k, e)
	err := c.write(k, data)
	c.mu.Lock()
	c.fault = err
	c.mu.Unlock()
	if err != nil {
		c.log.Debug().AnErr(logkey.Err, err).Msg("the lists of a server cannot be stored")
		return
	}
	if now := time.Now(); c.isFull(now, len(data)) {
		c.prune(now)
	}
}

// Fault says why the last entry that was put there could not be kept; nil if it was kept, or there was none.
func (c *Catalogue) Fault() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.fault
}

// isFull notes how much was put, and reports whether it is time to prune.
func (c *Catalogue) isFull(now time.Time, put int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.put += int64(put); c.put < pruneAfter && now.Sub(c.pruned) < pruneEvery {
		return false
	}
	c.pruned, c.put = now, 0
	return true
}

func (c *Catalogue) write(k Key, data []byte) error {
	if len(data) > maxFile {
		return fmt.Errorf("its lists have %d bytes; at most %d are kept", len(data), maxFile)
	}
	if err := openfile.MakeFolder(c.dir, 0o700); err != nil {
		return err
	}
	return openfile.Cache(c.path(k), data) // what a power failure tears is not read
}

// abandoned is how old a file must be that was begun and not finished before it is taken for one whose writer is gone.
const abandoned = time.Hour

// prune removes what is too old, and then what was used longest ago until the rest is not too much.
func (c *Catalogue) prune(now time.Time) {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	var kept []fs.FileInfo
	var total int64
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue // another process has removed it, or it is not ours
		}
		age := now.Sub(info.ModTime())
		switch {
		case strings.HasPrefix(info.Name(), openfile.Prefix) && age > abandoned,
			strings.HasSuffix(info.Name(), suffix) && age > maxAge:
			c.remove(info)
		case strings.HasSuffix(info.Name(), suffix):
			kept = append(kept, info)
			total += info.Size()
		}
	}
	slices.SortFunc(kept, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), strings.Compare(a.Name(), b.Name()))
	})
	for _, info := range kept {
		if total <= maxTotal {
			return
		}
		c.remove(info)
		total -= info.Size()
	}
}

func (c *Catalogue) remove(info fs.FileInfo) {
	err := os.Remove(filepath.Join(c.dir, info.Name()))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.log.Debug().AnErr(logkey.Err, err).Msg("a catalogue file cannot be removed")
	}
}
