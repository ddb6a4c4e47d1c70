//go:build unix

package child

import (
	"errors"
	"io/fs"
	"os"
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

// scriptHelp is how a script is started here.
const scriptHelp = "a script needs a first line such as #!/bin/sh"

// refusal words an error of starting that is not about the program; "" of any other.
func refusal(err error) string {
	switch {
	case errors.Is(err, syscall.E2BIG):
		return "arguments and environment together are too large; give it fewer or shorter ones"
	case errors.Is(err, syscall.EAGAIN):
		return "no more processes may run here"
	}
	return ""
}

// lacking says what to do about an error that tells of the limits of the system, after a semicolon; "" of any other.
func lacking(err error) string {
	switch {
	case errors.Is(err, syscall.EMFILE):
		return "; raise the number of files that workbench may have open (ulimit -n), or have fewer servers at once"
	case errors.Is(err, syscall.ENFILE):
		return "; the whole system has as many files open as it may: end other programs"
	case errors.Is(err, syscall.EAGAIN):
		return "; raise the number of processes that this user (ulimit -u), this service or this container may have, or end other programs"
	case errors.Is(err, syscall.ENOMEM):
		return "; end other programs, or give this machine more memory"
	}
	return ""
}

// EnvKey is the same for names of one variable only: what is written otherwise is another variable.
func EnvKey(name string) string { return name }
