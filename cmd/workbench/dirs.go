package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// stateDir is the folder of what this user's workbenches keep between runs: the
// token, logins and the like (XDG Base Directory Specification, XDG_STATE_HOME).
func (e *environment) stateDir() (string, error) {
	if dir, _ := e.lookup("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "workbench"), nil
	}
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if home, _ := e.lookup(name); home != "" {
			return filepath.Join(home, ".local", "state", "workbench"), nil
		}
	}
	return "", errors.New("HOME is not set")
}

// cacheDir is the folder of what may be lost at any time (XDG Base Directory
// Specification, XDG_CACHE_HOME, and what macOS and Windows have in its place).
func (e *environment) cacheDir() (string, error) {
	if dir, _ := e.lookup("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "workbench"), nil
	}
	if dir, _ := e.lookup("LOCALAPPDATA"); runtime.GOOS == "windows" && dir != "" {
		return filepath.Join(dir, "workbench"), nil
	}
	home, _ := e.lookup("HOME")
	switch {
	case home == "":
		return "", errors.New("HOME is not set")
	case runtime.GOOS == "darwin":
		return filepath.Join(home, "Library", "Caches", "workbench"), nil
	}
	return filepath.Join(home, ".cache", "workbench"), nil
}

// runtimeDirs are the folders of what lives as long as a process: sockets and
// locks. The first that will do is the one to use. What was started with another
// environment may have used another: clients often hand on less than a terminal
// has.
func (e *environment) runtimeDirs() []string {
	var dirs []string
	if dir, _ := e.lookup("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		dirs = append(dirs, filepath.Join(dir, "workbench"))
	}
	if dir, err := e.stateDir(); err == nil {
		dirs = append(dirs, filepath.Join(dir, "run"))
	}
	if tmp, _ := e.lookup("TMPDIR"); filepath.IsAbs(tmp) {
		dirs = append(dirs, filepath.Join(tmp, fmt.Sprint("workbench-", os.Getuid())))
	}
	return dirs
}
