//go:build unix

package wire

import (
	"io"
	"syscall"
	"time"
)

// nonBlocking returns the file descriptor behind w if it is in non-blocking
// mode, which is so where it takes a deadline, and nil otherwise.
func nonBlocking(w io.Writer) syscall.RawConn {
	f, ok := w.(interface {
		syscall.Conn
		SetWriteDeadline(time.Time) error
	})
	if !ok || f.SetWriteDeadline(time.Time{}) != nil {
		return nil
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}

// attempt writes as much of p as goes without waiting.
func attempt(raw syscall.RawConn, p []byte) (n int, err error) {
	failed := raw.Write(func(fd uintptr) bool {
		for {
			n, err = syscall.Write(int(fd), p)
			if err != syscall.EINTR {
				return true
			}
		}
	})
	if failed != nil {
		return 0, failed
	}
	if err == syscall.EAGAIN {
		return 0, nil
	}
	return max(n, 0), err
}
