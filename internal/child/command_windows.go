package child

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// executable returns the file that path means, trying the extensions of PATHEXT unless it has one of them.
func executable(path string, env []string) (string, error) {
	list, set := Getenv(env, "PATHEXT")
	if !set {
		list = ".COM;.EXE;.BAT;.CMD"
	}
	names := []string{path}
	if filepath.Ext(path) == "" {
		names = nil
	}
	for ext := range strings.SplitSeq(list, ";") {
		names = append(names, path+ext)
	}
	for _, name := range names {
		info, err := os.Stat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return "", err
		case !info.IsDir():
			return name, nil
		}
	}
	return "", &fs.PathError{Op: "exec", Path: path, Err: syscall.ERROR_FILE_NOT_FOUND}
}

// Getenv returns the value of key, in whatever case it is written.
func Getenv(env []string, key string) (string, bool) {
	for _, kv := range env {
		if k, v, _ := strings.Cut(kv, "="); strings.EqualFold(k, key) {
			return v, true
		}
	}
	return "", false
}
