package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// fileName is how a configuration is called where it was not named.
const fileName = "workbench-config.json"

// Find returns the path of the configuration to load: the file named, if that is not "", else the one that the variable
// WORKBENCH_CONFIG names, else workbench-config.json in dir, else workbench/workbench-config.json in $XDG_CONFIG_HOME,
// which is $HOME/.config unless it is set to an absolute path. A relative name starts from dir.
//
// A file that was named and is not there is an error that wraps fs.ErrNotExist. If nothing was named and nothing found, the
// path is "" and the caller uses [Default]. Searched holds the paths looked at, in order.
func Find(named string, dir string, lookup func(string) (string, bool)) (path string, searched []string, err error) {
	what := "configuration"
	if named == "" {
		named, _ = lookup("WORKBENCH_CONFIG")
		what = "configuration named by WORKBENCH_CONFIG"
	}
	if named != "" {
		if !filepath.IsAbs(named) {
			named = filepath.Join(dir, named)
		}
		if _, err := os.Stat(named); err != nil {
			return "", []string{named}, fmt.Errorf("%s: %w", what, err)
		}
		return named, []string{named}, nil
	}
	candidates := []string{filepath.Join(dir, fileName)}
	if folder := userFolder(lookup); folder != "" {
		candidates = append(candidates, filepath.Join(folder, fileName))
	}
	for _, path := range candidates {
		searched = append(searched, path)
		switch _, err := os.Stat(path); {
		case err == nil:
			return path, searched, nil
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
			// It may be there. Going on with another file would be worse than saying so.
			return "", searched, fmt.Errorf("configuration: %w", err)
		}
	}
	return "", searched, nil
}

// userFolder returns workbench's folder in the user's configuration folder (XDG Base Directory Specification), or "".
func userFolder(lookup func(string) (string, bool)) string {
	if base, _ := lookup("XDG_CONFIG_HOME"); filepath.IsAbs(base) {
		return filepath.Join(base, "workbench")
	}
	if home, _ := lookup("HOME"); home != "" {
		return filepath.Join(home, ".config", "workbench")
	}
	return ""
}
