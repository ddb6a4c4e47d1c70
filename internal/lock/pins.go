package lock

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/shellword"
)

// Mode says what becomes of what a server says that was not agreed to.
type Mode string

// The modes.
const (
	Off  Mode = "off"  // nothing is compared
	Warn Mode = "warn" // it is offered, and said
	Hold Mode = "hold" // it is not offered
)

// Source is a lock file that is read when a configuration is, and parsed when something is first compared with it.
type Source struct {
	path  string
	data  []byte
	fault error // nil, or a *DoubtError
	parse sync.Once
	file  *File
}

// Beside gives the path of the lock file of a configuration.
func Beside(config string) string { return filepath.Join(filepath.Dir(config), Name) }

// Open reads a lock file; nil if there is none. One that other users can write cannot be used, as
// [openfile.ReadTrusted] says: it decides which tools a model is offered. What is wrong with the file is told when it
// is used.
func Open(path string) *Source {
	data, _, err := openfile.ReadTrusted(path, maxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	s := &Source{path: path, data: data}
	if err != nil {
		s.fault = &DoubtError{err, "see to it that you can read the file, and that you alone can write it and its folder"}
	}
	return s
}

// A DoubtError says why nothing can be compared with what was agreed to.
type DoubtError struct {
	Fault  error
	Remedy string // what a person can do
}

func (e *DoubtError) Error() string {
	return fmt.Sprintf("nothing can be compared with the lock file: %v; %s", e.Fault, e.Remedy)
}

func (e *DoubtError) Unwrap() error { return e.Fault }

// File gives what is in the file. The error is a [DoubtError].
func (s *Source) File() (*File, error) {
	s.parse.Do(func() {
		if s.fault == nil {
			var err error
			if s.file, err = Parse(s.data); err != nil {
				s.fault = &DoubtError{fmt.Errorf("%s: %w", s.path, err), "bring back the version that was agreed to, or remove the file and lock again"}
			}
		}
		s.data = nil
	})
	return s.file, s.fault
}

// Pins are what was agreed to of one server, and what becomes of the rest. With the zero value nothing is compared.
type Pins struct {
	Mode   Mode
	ID     ID
	Path   string  // of the lock file, whether it is there or not
	Source *Source // nil: there is no lock file
}

// Same reports whether both have the same effect.
func (p Pins) Same(other Pins) bool {
	if p.Mode != other.Mode || p.ID != other.ID || (p.Source == nil) != (other.Source == nil) {
		return false
	}
	if p.Source == other.Source || p.Mode == Off {
		return true
	}
	a, err := p.Source.File()
	b, otherErr := other.Source.File()
	if err != nil || otherErr != nil {
		return fmt.Sprint(err) == fmt.Sprint(otherErr)
	}
	one, had := a.Items(p.ID)
	two, has := b.Items(p.ID)
	return had == has && slices.EqualFunc(one, two, func(x, y Item) bool { return x.Digest() == y.Digest() })
}

// Doubt says why nothing of the server can be compared with what was agreed to; nil if it can be, or need not.
func (p Pins) Doubt() *DoubtError {
	if p.Mode == Off || p.Mode == "" {
		return nil
	}
	_, doubt := p.agreed()
	return doubt
}

// agreed gives what was agreed to of the server, in order.
func (p Pins) agreed() ([]Item, *DoubtError) {
	fault := errors.New("there is no " + Name)
	if p.Source != nil {
		file, err := p.Source.File()
		if doubt := new(DoubtError); errors.As(err, &doubt) {
			return nil, doubt
		}
		if items, ok := file.Items(p.ID); ok {
			return items, nil
		}
		fault = fmt.Errorf("%s has nothing of the server", Name)
	}
	remedy := "look at what the server offers, then agree to it with workbench lock " + shellword.Word(p.ID.Toolbox)
	if p.Path == "" {
		remedy = "write the configuration to a file, which a lock file can stand beside"
	}
	return nil, &DoubtError{fault, remedy}
}

// Judge compares all that there is of one kind with what was agreed to. The error, a [DoubtError], says why that cannot
// be done; in mode hold nothing of it is agreed to then.
func (p Pins) Judge(k Kind, now []Item) ([]Change, error) {
	if p.Mode == Off || p.Mode == "" {
		return nil, nil
	}
	locked, doubt := p.agreed()
	if doubt != nil {
		return nil, doubt
	}
	return Compare(slices.DeleteFunc(slices.Clone(locked), func(it Item) bool { return it.Kind != k }), now), nil
}

// AcceptCommand is what a person types to agree to an item of the server. Of one whose name could be a sentence it is
// what shows the name.
func (p Pins) AcceptCommand(key string) string {
	if !IsPlain(key) {
		return "workbench lock --accept, by the name that workbench lock --diff " + shellword.Word(p.ID.Toolbox) + " shows,"
	}
	return "workbench lock --accept " + shellword.Word(p.ID.String()+"/"+Shown(key))
}

// Shown gives the key of an item as it is shown and typed: with what is not to be seen as numbers.
func Shown(key string) string { return foreign.Visible(key, maxShown) }

// Quote gives the key of an item as it is shown, in quotation marks that it does not close.
func Quote(key string) string { return `"` + strings.ReplaceAll(Shown(key), `"`, "'") + `"` }
