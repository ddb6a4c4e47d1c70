package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/lock"
	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/trust"
)

// A Parser makes a configuration of a file that was read: all of it, as (*config.Source).Parse, or what can be used, as
// (*config.Source).ParseUsable.
type Parser func(*config.Source, func(string) (string, bool)) (*config.Config, error)

// Sources are the files that the configuration is made of: one that was named, or the user's own and beside it that of
// the project, if the user trusts it.
type Sources struct {
	Env    *Environment
	Dir    string // where a project's file is looked for
	Places config.Places
	kept   *config.Config // what the project's file said when it was last read and trusted
	digest string         // of the file then
	lent   []string       // the files of variables that they had when they were last read
}

// FindSources looks for the files.
func FindSources(e *Environment) (*Sources, error) {
	dir, err := WorkingDir()
	if named, _ := e.Lookup("WORKBENCH_CONFIG"); err != nil && e.ConfigPath == "" && named == "" {
		return nil, err
	}
	places, err := config.Find(e.ConfigPath, dir, e.Lookup)
	if err != nil {
		return nil, Hint(err, "name an existing file with --config or WORKBENCH_CONFIG, or none to use the default places")
	}
	return &Sources{Env: e, Dir: dir, Places: places}, nil
}

// WorkingDir returns the folder that the program was started in.
func WorkingDir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", noWorkingDir(err)
	}
	return dir, nil
}

// Abs gives the absolute path of a name that starts from the folder that the program was started in.
func Abs(name string) (string, error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return "", noWorkingDir(err)
	}
	return path, nil
}

func noWorkingDir(err error) error {
	return Hint(fmt.Errorf("the working folder: %w", err), "the folder in which workbench was started is gone, or cannot be read: start it in another one")
}

// Again looks for the files anew. That named, or the user's own, once it was there, is the one: another is not to take
// its place because it is away for a moment.
func (s *Sources) Again() error {
	if s.Places.Named != "" {
		return nil
	}
	places, err := config.Find("", s.Dir, s.Env.Lookup)
	if s.Places.User != "" {
		places.User = s.Places.User
	}
	if err == nil || places.User != "" {
		s.Places = places
	}
	return err
}

// Watched are the paths that decide what load returns: of configurations, of their lock files, and of what is trusted.
func (s *Sources) Watched() []string {
	if s.Places.Named != "" {
		return append([]string{s.Places.Named, lock.Beside(s.Places.Named)}, s.lent...)
	}
	paths := append(slices.Clone(s.Places.Searched), s.lent...)
	for _, path := range s.Places.Searched {
		paths = append(paths, lock.Beside(path))
	}
	store, err := TrustStore(s.Env)
	if err != nil {
		return paths
	}
	for _, path := range s.Places.Searched {
		if path != s.Places.User {
			paths = append(paths, store.File(path))
		}
	}
	return paths
}

// Load reads the files. With none that may be used the configuration is the built-in one.
func (s *Sources) Load(read Parser) (cfg *config.Config, err error) {
	own := s.Places.Named
	if own == "" {
		own = s.Places.User
	}
	if own != "" {
		src, err := config.Read(own)
		if err == nil {
			cfg, err = read(src, s.Env.Lookup)
		}
		if errors.Is(err, openfile.ErrNotRegular) {
			return nil, Hint(err, "name the file itself, such as "+filepath.Join("FOLDER", config.FileName))
		}
		if err != nil {
			return nil, err
		}
	}
	project, untrusted, err := s.project(read)
	if err != nil {
		return nil, err
	}
	s.lent = nil
	for _, c := range []*config.Config{cfg, project} {
		if c != nil {
			s.lent = append(s.lent, c.EnvFile...)
		}
	}
	switch {
	case cfg != nil && project != nil:
		cfg = cfg.Beside(project)
	case project != nil:
		alone := *project
		cfg, alone.Project = &alone, project.Path
	case cfg == nil:
		cfg = config.Default()
		cfg.Unconfigured = untrusted == nil
	}
	cfg.Untrusted = untrusted
	return cfg, s.Env.lay(cfg)
}

// project reads the project's file once and returns what it says if the user has trusted just that; else what is to be
// told of it, and what it said before if the user trusts that still.
func (s *Sources) project(read Parser) (*config.Config, *config.Untrusted, error) {
	path := s.Places.Project
	if path == "" && s.kept != nil {
		path = s.kept.Path
	}
	if path == "" {
		return nil, nil, nil
	}
	src, entry, why := Judge(s.Env, path)
	if why == "" {
		cfg, err := read(src, s.Env.Lookup)
		if err == nil {
			s.kept, s.digest = cfg, entry.Digest
		}
		return cfg, nil, err
	}
	untrusted := Describe(path, src, entry, why)
	if s.kept == nil || s.kept.Path != path || s.digest != entry.Digest {
		return nil, untrusted, nil
	}
	untrusted.Before = true
	return s.kept, untrusted, nil
}

// Judge reads a project's file and what the user has decided about it; why says what is against using it, "" if nothing
// is.
func Judge(e *Environment, path string) (src *config.Source, entry trust.Entry, why string) {
	store, err := TrustStore(e)
	if err != nil {
		return nil, entry, "there is no place to keep what is trusted: " + err.Error()
	}
	if entry, _, err = store.Get(path); err != nil {
		return nil, trust.Entry{}, "what was decided about it cannot be read: " + err.Error()
	}
	switch src, err = config.Read(path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, entry, "it is not there"
	case err != nil:
		return nil, entry, "it cannot be read: " + err.Error()
	case entry.Digest == trust.Digest(src.Data):
		return src, entry, ""
	case entry.Digest != "":
		return src, entry, "it was changed since it was trusted"
	}
	return src, entry, "nobody has trusted it"
}

// Describe says what a person is to know of a file that is not trusted.
func Describe(path string, src *config.Source, entry trust.Entry, why string) *config.Untrusted {
	u := &config.Untrusted{Path: path, Why: why}
	var err error
	if src == nil {
		return u
	}
	// It is not parsed: that would read the files of variables that it names.
	if u.Shown, err = src.Review(); err != nil {
		u.Why += ", and it has a fault: " + err.Error()
		return u
	}
	u.Digest = trust.Digest(src.Data)
	if entry.Digest != "" {
		u.Changes = trust.Changes(entry.Shown, u.Shown)
	}
	return u
}

// TrustShown trusts a file as it was shown to the user, who was asked by a client. It is read once more, so that one
// with faults is not trusted.
func (s *Sources) TrustShown(u *config.Untrusted) error {
	src, err := config.Read(u.Path)
	if err != nil {
		return err
	}
	if trust.Digest(src.Data) != u.Digest {
		return errors.New("it was changed while its user read it")
	}
	if _, err := src.ParseUsable(s.Env.Lookup); err != nil {
		return err
	}
	store, err := TrustStore(s.Env)
	if err != nil {
		return err
	}
	return KeepTrust(store, u)
}

func KeepTrust(store *trust.Store, u *config.Untrusted) error {
	return store.Put(trust.Entry{Path: u.Path, Digest: u.Digest, Since: time.Now().Round(0), Shown: u.Shown})
}

// TrustStore is what the user has decided about files of projects.
func TrustStore(e *Environment) (*trust.Store, error) {
	dir, err := e.StateDir()
	if err != nil {
		return nil, err
	}
	return trust.New(filepath.Join(dir, "trusted")), nil
}
