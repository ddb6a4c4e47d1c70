package store

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// networkFS names the network file system that a folder is on; "" is none.
func networkFS(dir string) (string, error) {
	root, err := windows.UTF16PtrFromString(filepath.VolumeName(dir) + `\`)
	if err != nil {
		return "", err
	}
	if windows.GetDriveType(root) == windows.DRIVE_REMOTE {
		return "a network drive", nil
	}
	return "", nil
}
