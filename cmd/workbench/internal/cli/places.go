package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/mcp-workbench/workbench/internal/oauth"
	"github.com/mcp-workbench/workbench/internal/userdir"
)

// StateDir is the folder of what this user's workbenches keep between runs: the token, logins and the like (XDG Base
// Directory Specification, XDG_STATE_HOME).
func (e *Environment) StateDir() (string, error) {
	if dir, _ := e.Lookup("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "workbench"), nil
	}
	if home := userdir.Home(e.Lookup); home != "" {
		return filepath.Join(home, ".local", "state", "workbench"), nil
	}
	return "", userdir.ErrNone
}

// CacheDir is the folder of what may be lost at any time (XDG Base Directory Specification, XDG_CACHE_HOME, and what
// macOS and Windows have in its place).
func (e *Environment) CacheDir() (string, error) {
	if dir, _ := e.Lookup("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "workbench"), nil
	}
	if dir, _ := e.Lookup("LOCALAPPDATA"); runtime.GOOS == "windows" && dir != "" {
		return filepath.Join(dir, "workbench"), nil
	}
	home := userdir.Home(e.Lookup)
	switch {
	case home == "":
		return "", userdir.ErrNone
	case runtime.GOOS == "darwin":
		return filepath.Join(home, "Library", "Caches", "workbench"), nil
	}
	return filepath.Join(home, ".cache", "workbench"), nil
}

// RuntimeDirs are the folders of what lives as long as a process: sockets and locks. The first that will do is the one
// to use. What was started with another environment may have used another: clients often hand on less than a terminal
// has.
func (e *Environment) RuntimeDirs() []string {
	var dirs []string
	if dir, _ := e.Lookup("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		dirs = append(dirs, filepath.Join(dir, "workbench"))
	}
	if dir, err := e.StateDir(); err == nil {
		dirs = append(dirs, filepath.Join(dir, "run"))
	}
	if tmp, _ := e.Lookup("TMPDIR"); filepath.IsAbs(tmp) {
		dirs = append(dirs, filepath.Join(tmp, fmt.Sprint("workbench-", os.Getuid())))
	}
	return dirs
}

// IsSameFile reports whether two paths name one file, or both none.
func IsSameFile(a, b string) bool {
	if a == b {
		return true
	}
	one, err := os.Stat(a)
	two, otherErr := os.Stat(b)
	return err == nil && otherErr == nil && os.SameFile(one, two)
}

// Sandboxes is the folder in which sandboxed servers have folders of their own; "" if there is none.
func Sandboxes(e *Environment) string {
	dir, err := e.CacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "sandboxes")
}

// Logins is where logins are kept; nil if there is no place for them.
func Logins(e *Environment) *oauth.Store {
	dir, err := e.StateDir()
	if err != nil {
		return nil
	}
	return oauth.NewStore(filepath.Join(dir, "logins"))
}
