// Package slots gives out places of which there are only a few at a time, to all processes of one user together. A
// place is a lock on a file, which the system takes back from a process that ends in whatever way, so that nothing is
// left to be cleaned up and nobody is asked.
package slots

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/pause"
)

// Slots are the places under any number of names. Its methods may be called from several goroutines.
type Slots struct {
	dir string
	n   int

	mu    sync.Mutex
	local map[string]chan struct{} // by name: the places that this process may ask for
}

// New returns n places under each name, for all processes that name the same dir, which is made when it is needed and
// is the user's own.
func New(dir string, n int) *Slots {
	return &Slots{dir: dir, n: n, local: make(map[string]chan struct{})}
}

// Places taken by other processes are looked for again after a time between these: nobody tells when one is free.
const (
	pauseMin = 10 * time.Millisecond
	pauseMax = 50 * time.Millisecond
)

// Take waits until a place under name is free, and takes it until release is called, which may be done more than once.
// The error is the cause of ctx, if that ends before, or of the system, if files cannot be locked in the directory.
func (s *Slots) Take(ctx context.Context, name string) (release func(), err error) {
	// Of this process only as many look for a place as there are at most.
	local := s.places(name)
	select {
	case local <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	file, err := s.lock(ctx, name)
	if err != nil {
		<-local
		return nil, err
	}
	return sync.OnceFunc(func() {
		file.release()
		<-local
	}), nil
}

func (s *Slots) places(name string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.local[name]
	if c == nil {
		c = make(chan struct{}, s.n)
		s.local[name] = c
	}
	return c
}

// lock waits for the first of the files of a name that nobody else has locked.
func (s *Slots) lock(ctx context.Context, name string) (*lockFile, error) {
	if err := openfile.MakeFolder(s.dir, 0o700); err != nil {
		return nil, err
	}
	digest := sha256.Sum256([]byte(name))
	base := filepath.Join(s.dir, hex.EncodeToString(digest[:12]))
	for {
		for i := range s.n {
			f, err := tryLock(base + "-" + strconv.Itoa(i))
			if f != nil || err != nil {
				return f, err
			}
		}
		if err := pause.For(ctx, pauseMin+rand.N(pauseMax-pauseMin)); err != nil {
			return nil, err
		}
	}
}

// lockFile is a file that this process has locked.
type lockFile struct{ *os.File }

// tryLock locks a file, which is made if there is none; nil if another has it.
func tryLock(path string) (*lockFile, error) {
	for {
		f, _, err := openfile.Make(path)
		if err != nil {
			return nil, err
		}
		ok, err := openfile.TryLock(f, true)
		if !ok || err != nil {
			_ = f.Close()
			return nil, err
		}
		// The owner before may have removed the file between our two steps: then the file of that name is another one,
		// or there is none.
		there, err := isThere(f)
		if there {
			return &lockFile{f}, nil
		}
		_ = f.Close()
		if err != nil {
			return nil, err
		}
	}
}

// isThere reports whether a file is still the one of its name.
func isThere(f *os.File) (bool, error) {
	ours, err := f.Stat()
	if err != nil {
		return false, err
	}
	there, err := os.Stat(f.Name())
	if os.IsNotExist(err) {
		return false, nil
	}
	return err == nil && os.SameFile(ours, there), err
}

// release removes the file while it is locked still, so that no file outlives its use, and unlocks it. Where somebody
// has cleared the folder meanwhile, the file of that name is another's lock. On Windows an open file stays.
func (f *lockFile) release() {
	if there, _ := isThere(f.File); there {
		_ = os.Remove(f.Name())
	}
	_ = f.Close()
}
