//go:build unix

package child

import (
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// executable returns path if it is a file that somebody may execute. Whether we may, the system decides at the start.
func executable(path string, _ []string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", err
	case info.IsDir():
		return "", &fs.PathError{Op: "exec", Path: path, Err: syscall.EISDIR}
	case info.Mode()&0o111 == 0:
		return "", &fs.PathError{Op: "exec", Path: path, Err: fs.ErrPermission}
	}
	return path, nil
}

// Getenv returns the value that a program given env sees: the first one.
func Getenv(env []string, key string) (string, bool) {
	for _, kv := range env {
		if k, v, _ := strings.Cut(kv, "="); k == key {
			return v, true
		}
	}
	return "", false
}
