package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mcp-workbench/workbench/internal/syserr"
	"github.com/mcp-workbench/workbench/internal/userdir"
)

// FileName is how a configuration is called where it was not named.
const FileName = "workbench-config.json"

// Places are where a configuration is, or may be.
type Places struct {
	Named string // the file that was named, which is used alone; "" if none was
	User  string // the user's own file; "" if there is none
	// Project is the file of the project that the folder is in; "" if there is none. Somebody else may have written it:
	// it is to be used only where the user has trusted it. Its folder is the real one, without links.
	Project  string
	Searched []string // all paths looked at, those of the project first
}

// Find returns the files that a configuration is made of: the file named, if that is not "", else the one that the
// variable WORKBENCH_CONFIG names, else two: workbench/workbench-config.json in $XDG_CONFIG_HOME, which is
// $HOME/.config unless it is set to an absolute path, and beside it workbench-config.json in dir or, if that is in a
// repository, in the next folder above that has one, up to the root of the repository. A relative name starts from dir.
//
// A file that was named and is not there is an error that wraps fs.ErrNotExist. If nothing was named and nothing found,
// the caller uses [Default].
func Find(named string, dir string, lookup func(string) (string, bool)) (p Places, err error) {
	what := "configuration"
	if named == "" {
		named, _ = lookup("WORKBENCH_CONFIG")
		what = "configuration named by WORKBENCH_CONFIG"
	}
	if named != "" {
		if !filepath.IsAbs(named) {
			named = filepath.Join(dir, named)
		}
		p.Searched = []string{named}
		if _, err := os.Stat(named); err != nil {
			return p, fmt.Errorf("%s: %w", what, err)
		}
		p.Named = named
		return p, nil
	}
	p.Project, p.Searched = FindProject(dir)
	user := UserFile(lookup)
	if user == "" {
		return p, nil
	}
	p.Searched = append(p.Searched, user)
	info, err := os.Stat(user)
	switch {
	case err == nil:
		p.User = user
	case !errors.Is(err, fs.ErrNotExist) && !syserr.IsNoFolder(err):
		// It may be there. Going on without it would be worse than saying so.
		return p, fmt.Errorf("configuration: %w", err)
	}
	if other, err := os.Stat(p.Project); err == nil && p.User != "" && os.SameFile(info, other) {
		p.Project = "" // it is the user's own
	}
	return p, nil
}

// FindProject returns the file of the project that dir is in, as [Find] looks for it, or "". Something is at the path,
// which need not be a file that can be read.
func FindProject(dir string) (path string, searched []string) {
	for _, folder := range projectFolders(dir) {
		path = filepath.Join(folder, FileName)
		searched = append(searched, path)
		if _, err := os.Lstat(path); err == nil || !errors.Is(err, fs.ErrNotExist) && !syserr.IsNoFolder(err) {
			return path, searched
		}
	}
	return "", searched
}

// projectFolders returns dir and the folders above it, up to the root of the repository that it is in; dir alone if it
// is in none.
func projectFolders(dir string) []string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real // "above" is where the folder is, and not where a link to it is
	}
	var folders []string
	for at := dir; ; at = filepath.Dir(at) {
		folders = append(folders, at)
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return folders
		}
		if filepath.Dir(at) == at {
			return folders[:1]
		}
	}
}

// UserFile returns where the user's own file is, or would be; "" for a user without a home.
func UserFile(lookup func(string) (string, bool)) string {
	if base, _ := lookup("XDG_CONFIG_HOME"); filepath.IsAbs(base) {
		return filepath.Join(base, "workbench", FileName)
	}
	if home := userdir.Home(lookup); home != "" {
		return filepath.Join(home, ".config", "workbench", FileName)
	}
	return ""
}
