package definition

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/workbench/internal/openfile"
)

const (
	// interval is how old a catalogue may be when it is handed out without a look at the disk. With time to read the
	// files it keeps the promise that a change is seen within a second, where no watcher reports it earlier.
	interval = 500 * time.Millisecond
	// settled is how long a file must have been left alone before its time stamp is trusted: two quick writes can carry
	// the same one.
	settled = 2 * time.Second
	// maxFiles and maxBytes bound the files of one directory, which take many times their size in memory, and maxTime
	// how long one look may read in it: what is left then is read by the next look.
	maxFiles = 1000
	maxBytes = 8 << 20
	maxTime  = 10 * time.Second
)

// An allowance is what may still be read of a directory in one look.
type allowance struct {
	bytes int64
	until time.Time
}

// errors of an allowance that is spent, which say so to people.
var (
	errMany = fmt.Errorf("only the first %d MiB are read", maxBytes>>20)
	errSlow = fmt.Errorf("reading takes more than %v, and goes on with the next look", maxTime)
)

// A Store reads the sources and keeps the catalogue up to date. Any number of goroutines may use it.
type Store struct {
	sources []Source

	current atomic.Pointer[Catalogue]
	looked  atomic.Pointer[time.Time] // when the disk was looked at last
	dirty   atomic.Bool               // a watcher saw a change since

	mu sync.Mutex // held during a look at the disk
	// files remembers what became of every file, guarded by mu.
	files map[string]*file
	// signature tells two looks apart, guarded by mu.
	signature [sha256.Size]byte
}

// A file is remembered so that only what changed is read again.
type file struct {
	info    fs.FileInfo // nil for a file that could not be read: it may be the next time, though it is the same
	read    time.Time
	sum     [sha256.Size]byte
	finding finding
	// data is the content of a file that calls routines, and routines the sum of those that it was read with.
	data     []byte
	routines [sha256.Size]byte
}

// unchanged reports whether info is that of the file that was read.
func (f *file) unchanged(info fs.FileInfo) bool {
	return f.info != nil && os.SameFile(f.info, info) && f.info.Size() == info.Size() &&
		f.info.ModTime().Equal(info.ModTime()) && f.read.Sub(info.ModTime()) > settled
}

// NewStore returns a store of the sources, from the weakest to the strongest. It opens nothing: the first call of
// Catalogue does.
func NewStore(sources []Source) *Store {
	return &Store{sources: slices.Clone(sources), files: map[string]*file{}}
}

// Catalogue returns what the sources hold. It looks at the disk when the last look is half a second old or
// [Store.Watch] has seen a change, and returns the same pointer as before when nothing has changed. While another call
// looks at a slow disk, the last catalogue is returned.
func (s *Store) Catalogue() *Catalogue {
	current := s.current.Load()
	if current == nil {
		s.mu.Lock()
	} else if !s.stale() || !s.mu.TryLock() {
		return current
	}
	defer s.mu.Unlock()
	if s.current.Load() == nil || s.stale() {
		s.lookLocked()
	}
	return s.current.Load()
}

func (s *Store) stale() bool {
	return s.dirty.Load() || time.Since(*s.looked.Load()) >= interval
}

// lookLocked reads the sources; mu is held.
func (s *Store) lookLocked() {
	// Before the look: a change during it must lead to another one.
	s.dirty.Store(false)
	now := time.Now()
	s.looked.Store(&now)

	states := make([]SourceState, len(s.sources))
	found := make([][]finding, len(s.sources))
	seen := map[string]bool{}
	hash := sha256.New()
	for i, source := range s.sources {
		states[i], found[i] = s.readSource(source, seen)
	}
	sum := s.takeRoutines(found)
	hash.Write(sum[:])
	for i, source := range s.sources {
		fmt.Fprintf(hash, "%d %v %q\n", i, states[i].Present, states[i].Err)
		for _, f := range found[i] {
			sum := s.files[key(source, f.place.File)].sum
			fmt.Fprintf(hash, "%q %x\n", f.place.File, sum)
		}
	}
	for name := range s.files {
		if !seen[name] {
			delete(s.files, name)
		}
	}
	if sum := [sha256.Size]byte(hash.Sum(nil)); s.current.Load() == nil || sum != s.signature {
		s.signature = sum
		s.current.Store(newCatalogue(states, found))
	}
}

// takeRoutines reads the files once more that call routines, with those that were found, and returns the sum of these.
func (s *Store) takeRoutines(found [][]finding) [sha256.Size]byte {
	routines, hash := Routines{}, sha256.New()
	for i := range found {
		for _, f := range found[i] {
			if f.workflow != nil && f.workflow.routine != nil {
				routines.Add(f.workflow, f.place.File)
				fmt.Fprintf(hash, "%q %x\n", f.place.File, s.files[key(s.sources[i], f.place.File)].sum)
			}
		}
	}
	sum := [sha256.Size]byte(hash.Sum(nil))
	for i := range found {
		for j := range found[i] {
			f := s.files[key(s.sources[i], found[i][j].place.File)]
			if f.data == nil || f.routines == sum {
				continue
			}
			f.routines = sum
			s.parse(f, filepath.Base(found[i][j].place.File), f.data, routines)
			found[i][j] = f.finding
		}
	}
	return sum
}

// key names a file in Store.files.
func key(source Source, file string) string { return string(source.Origin) + "\x00" + file }

// readSource reads the files of one source in the order of their names.
func (s *Store) readSource(source Source, seen map[string]bool) (SourceState, []finding) {
	state := SourceState{Source: source}
	fsys := source.FS
	if fsys == nil {
		// A root keeps every file name, and every link, inside the directory.
		root, err := openfile.OpenFolder(source.Dir)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				state.Present, state.Err = true, openfile.Reason(err)
			} else if source.Absent != nil {
				state.Present, state.Err = true, source.Absent()
			}
			return state, nil
		}
		defer root.Close()
		fsys = root.FS()
	}
	state.Present = true
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		state.Err = openfile.Reason(err)
	}
	var found []finding
	left := &allowance{maxBytes, time.Now().Add(maxTime)}
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() || !IsWorkflowName(name) {
			continue
		}
		if len(found) == maxFiles {
			state.Err = fmt.Sprintf("only the first %d files are read", maxFiles)
			break
		}
		f, err := s.readFile(source, fsys, name, left)
		if err != nil {
			state.Err = err.Error()
			break
		}
		if f == nil && entry.Type()&fs.ModeSymlink == 0 {
			continue // listed a moment ago and gone now
		}
		if f == nil {
			f = s.deadLink(source, name)
		}
		seen[key(source, f.finding.place.File)] = true
		found = append(found, f.finding)
	}
	return state, found
}

// IsWorkflowName reports whether a file of that name is taken for a workflow.
func IsWorkflowName(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json", ".yaml", ".yml":
		return !strings.HasPrefix(name, ".")
	}
	return false
}

// readFile returns what became of a file, from memory if it has not changed, and nil for a file that is gone. The error
// says that it may not be read.
func (s *Store) readFile(source Source, fsys fs.FS, name string, left *allowance) (*file, error) {
	place := source.place(name)
	known := s.files[key(source, place.File)]
	info, err := fs.Stat(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && info.Mode().IsRegular() && info.Size() <= MaxFileSize {
		if left.bytes -= info.Size(); left.bytes < 0 {
			return nil, errMany
		}
	}
	if err == nil && known != nil && (source.FS != nil || known.unchanged(info)) {
		return known, nil
	}
	if time.Now().After(left.until) {
		return nil, errSlow
	}
	f := &file{read: time.Now(), finding: finding{place: place}}
	var data []byte
	if err == nil {
		data, err = readRegular(fsys, name, info)
	}
	if err != nil {
		f.sum = sha256.Sum256([]byte("unreadable: " + openfile.Reason(err)))
		f.unreadable(err)
	} else {
		f.info, f.sum = info, sha256.Sum256(data)
	}
	if known != nil && known.sum == f.sum {
		f.finding, f.data, f.routines = known.finding, known.data, known.routines
	} else if err == nil {
		if CallsRoutines(data) {
			f.data = data
		}
		s.parse(f, name, data, nil)
	}
	s.files[key(source, place.File)] = f
	return f, nil
}

func (s *Store) parse(f *file, name string, data []byte, routines Routines) {
	w, err := ParseWith(name, data, routines)
	f.finding = finding{place: f.finding.place}
	if bad, ok := errors.AsType[*Error](err); ok {
		f.finding.id, f.finding.cause, f.finding.faults = bad.ID, Malformed, bad.Faults
		if bad.ID == "" {
			f.finding.id = baseName(name)
		}
		return
	}
	f.finding.workflow = w
}

// deadLink remembers a link to nothing.
func (s *Store) deadLink(source Source, name string) *file {
	f := &file{finding: finding{place: source.place(name)}, sum: sha256.Sum256([]byte("dead link"))}
	f.unreadable(errors.New("the link leads to nothing"))
	s.files[key(source, f.finding.place.File)] = f
	return f
}

// place names a file of the source.
func (source Source) place(name string) Place {
	if source.FS == nil {
		name = filepath.Join(source.Dir, name)
	}
	return Place{Origin: source.Origin, File: name}
}

// unreadable notes why a file could not be read. Its name has to stand for the id that nobody knows.
func (f *file) unreadable(err error) {
	f.finding.id = baseName(f.finding.place.File)
	f.finding.cause = Unreadable
	if openfile.Reason(err) == "path escapes from parent" { // of a root that refuses a link, which package os does not export
		f.finding.cause = Outside
	}
	f.finding.faults = []Fault{{Message: openfile.Reason(err)}}
}

// baseName is the name of a file without its folder and its extension.
func baseName(file string) string {
	base := filepath.Base(file)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// readRegular reads a file of ordinary kind and size. Opening a pipe would wait for a writer, so the kind is looked at
// first.
func readRegular(fsys fs.FS, name string, info fs.FileInfo) ([]byte, error) {
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	if info.Size() > MaxFileSize {
		return nil, fmt.Errorf("the file has %d bytes; at most %d are read", info.Size(), MaxFileSize)
	}
	file, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	// One byte more than allowed tells a file that has grown meanwhile; the parser refuses it.
	return io.ReadAll(io.LimitReader(file, MaxFileSize+1))
}
