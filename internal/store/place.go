package store

import (
	"path/filepath"
	"slices"
	"strings"
)

// unsafePlace says why a store in a folder is not safe in the way it would be on a disk of this machine, or "".
func unsafePlace(dir string) string {
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	for at := dir; at != filepath.Dir(at); at = filepath.Dir(at) { // The last part may not be there yet.
		if kind, err := networkFS(at); err == nil {
			if kind != "" {
				return "is on a network file system (" + kind + "), whose locks do not always work; keep it on a disk of this machine, or use PostgreSQL"
			}
			break
		}
	}
	// Programs that copy files between machines copy the parts of a store at different times, and over each other.
	synced := []string{"Dropbox", "OneDrive", "Google Drive", "GoogleDrive", "iCloudDrive", "Mobile Documents", "Nextcloud", "Syncthing"}
	for _, part := range strings.Split(filepath.ToSlash(dir), "/") {
		if slices.ContainsFunc(synced, func(name string) bool { return strings.EqualFold(name, part) || strings.HasPrefix(part, name+" - ") }) {
			return "is in a folder that is copied between machines (" + part + "), which can damage it; keep it elsewhere"
		}
	}
	return ""
}
