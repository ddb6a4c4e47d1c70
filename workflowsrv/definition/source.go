package definition

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Origin says where a workflow comes from.
type Origin string

// The origins, from the weakest to the strongest.
const (
	Embedded Origin = "embedded" // part of the program
	User     Origin = "user"     // a directory in the home of the user
	Project  Origin = "project"  // a directory in the current directory
	Path     Origin = "path"     // an entry of WORKFLOW_STORAGE_PATH
	Config   Origin = "config"   // a directory that the configuration names
	Git      Origin = "git"      // a git repository that the configuration names
)

// IsForeign reports whether others than the user can have written the workflows of an origin.
func (o Origin) IsForeign() bool { return o == Project || o == Git }

// A Source is a place that holds workflow files: Dir, or FS for files that are part of the program. Files in
// directories below it are not looked at.
type Source struct {
	Origin Origin
	// Dir is absolute. It may be absent, and appear later.
	Dir string
	// Absent, if not nil, says why Dir is not there yet.
	Absent func() string
	// FS, if not nil, stands in place of Dir. It must not change.
	FS fs.FS
}

// Layers names all places where workflows can lie. Empty fields are left out.
type Layers struct {
	Embedded fs.FS
	// Home is the home directory of the user: ~/.workrail/workflows and ~/.workbench/workflows below it are looked at.
	Home string
	// Project is the current directory: workflows and .workbench/workflows below it are looked at. Relative paths in
	// Path and Dirs start there.
	Project string
	// Folders, if there are any, are where projects lie instead, the strongest first.
	Folders []string
	// Path is the value of WORKFLOW_STORAGE_PATH, directories joined by the list separator of the system.
	Path string
	// Dirs are the directories of the configuration. Fetched are those of them that are kept of git repositories, with
	// what says why one is not there yet.
	Dirs    []string
	Fetched map[string]func() string
}

// Sources returns the places from the weakest to the strongest. A directory that is named twice counts where it is
// strongest, and empty names do not count at all.
func (l Layers) Sources() []Source {
	var list []Source
	if l.Embedded != nil {
		list = append(list, Source{Origin: Embedded, FS: l.Embedded})
	}
	add := func(origin Origin, dir string) {
		dir = strings.TrimSpace(dir)
		if dir == "" {
			return
		}
		if rest, ok := strings.CutPrefix(dir, "~"); ok && l.Home != "" && (rest == "" || os.IsPathSeparator(rest[0])) {
			dir = filepath.Join(l.Home, rest)
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(l.Project, dir)
		}
		s := Source{Origin: origin, Dir: filepath.Clean(dir)}
		if absent, ok := l.Fetched[dir]; ok {
			s.Origin, s.Absent = Git, absent
		}
		list = append(list, s)
	}
	if l.Home != "" {
		add(User, filepath.Join(l.Home, ".workrail", "workflows"))
		add(User, filepath.Join(l.Home, ".workbench", "workflows"))
	}
	folders := slices.Clone(l.Folders)
	if len(folders) == 0 && l.Project != "" {
		folders = []string{l.Project}
	}
	slices.Reverse(folders)
	for _, folder := range folders {
		add(Project, filepath.Join(folder, "workflows"))
		add(Project, filepath.Join(folder, ".workbench", "workflows"))
	}
	for _, dir := range filepath.SplitList(l.Path) {
		add(Path, dir)
	}
	for _, dir := range l.Dirs {
		add(Config, dir)
	}
	return withoutRepeats(list)
}

// withoutRepeats drops a directory that comes again later.
func withoutRepeats(list []Source) []Source {
	last := map[string]int{}
	for i, s := range list {
		last[s.Dir] = i
	}
	var kept []Source
	for i, s := range list {
		if s.FS != nil || last[s.Dir] == i {
			kept = append(kept, s)
		}
	}
	return kept
}
