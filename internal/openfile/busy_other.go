//go:build !windows

package openfile

import "os"

// A file that somebody has open can be opened, replaced and removed all the same.

func openFile(path string, flag int, mode os.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag, mode)
}

func rename(from, to string) error { return os.Rename(from, to) }
