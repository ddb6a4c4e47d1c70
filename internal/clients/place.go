package clients

import (
	"path"
	"strings"
)

// System is the machine that paths are for.
type System struct {
	GOOS   string                      // as in runtime.GOOS
	Lookup func(string) (string, bool) // the variables of the user
}

// UserPaths returns where a user's files of a client are, best first. There are none for a user without a home.
func (s System) UserPaths(c Client) []string {
	list := c.User.Any
	if s.GOOS == "windows" && c.User.Windows != nil {
		list = c.User.Windows
	}
	var paths []string
	for _, place := range list {
		root, rest, _ := strings.Cut(place, "/")
		if folder := s.root(root); folder != "" {
			paths = append(paths, s.join(folder, rest))
			if strings.HasPrefix(root, "$") {
				return paths // the client looks nowhere else
			}
		}
	}
	return paths
}

// ProjectPaths returns where the files of a client are in the folder of a project, best first.
func (s System) ProjectPaths(c Client, folder string) []string {
	var paths []string
	for _, place := range c.Project {
		paths = append(paths, s.join(folder, place))
	}
	return paths
}

// root returns the folder that the first part of a place stands for, or "".
func (s System) root(part string) string {
	if name, ok := strings.CutPrefix(part, "$"); ok {
		return s.folder(name)
	}
	home := s.folder("HOME")
	if s.GOOS == "windows" {
		home = s.folder("USERPROFILE")
	}
	// either is what a variable says, or a folder at home.
	either := func(variable, below string) string {
		if dir := s.folder(variable); dir != "" || home == "" {
			return dir
		}
		return s.join(home, below)
	}
	switch {
	case part == "~":
		return home
	case part == "XDG":
		return either("XDG_CONFIG_HOME", ".config")
	case part == "LOCAL":
		return either("LOCALAPPDATA", "AppData/Local")
	case s.GOOS == "windows":
		return either("APPDATA", "AppData/Roaming")
	case s.GOOS == "darwin":
		if home == "" {
			return ""
		}
		return s.join(home, "Library/Application Support")
	case part == "DATA":
		return either("XDG_DATA_HOME", ".local/share")
	}
	return either("XDG_CONFIG_HOME", ".config")
}

// folder returns the absolute path that a variable holds, or "".
func (s System) folder(variable string) string {
	dir, _ := s.Lookup(variable)
	drive := len(dir) > 2 && dir[1] == ':' && (dir[2] == '\\' || dir[2] == '/') || strings.HasPrefix(dir, `\\`)
	if s.GOOS == "windows" && drive || s.GOOS != "windows" && path.IsAbs(dir) {
		return dir
	}
	return ""
}

func (s System) join(folder, below string) string {
	if s.GOOS == "windows" {
		return strings.TrimRight(folder, `\/`) + `\` + strings.ReplaceAll(below, "/", `\`)
	}
	return path.Join(folder, below)
}
