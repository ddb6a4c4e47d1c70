package child

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/windows"
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

// scriptHelp is how a script is started here.
const scriptHelp = `the command of a script is the program that runs it, such as "python", and the script is its first argument`

// refusal words an error of starting that is not about the program; "" of any other.
func refusal(err error) string {
	switch {
	case errors.Is(err, windows.ERROR_FILENAME_EXCED_RANGE):
		return "its arguments are too long; give it fewer or shorter ones"
	case errors.Is(err, windows.ERROR_ELEVATION_REQUIRED):
		return "it wants the rights of an administrator; have another program, or start workbench with them"
	}
	return ""
}

// lacking says what to do about an error that tells of the limits of the system, after a semicolon; "" of any other.
func lacking(err error) string {
	if errors.Is(err, windows.ERROR_NOT_ENOUGH_MEMORY) || errors.Is(err, windows.ERROR_COMMITMENT_LIMIT) {
		return "; end other programs, or give this machine more memory"
	}
	return ""
}

// EnvKey is the same for all names of one variable: Path, as most systems have it, is PATH.
func EnvKey(name string) string { return strings.ToUpper(name) }
