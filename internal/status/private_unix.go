//go:build unix

package status

import (
	"fmt"
	"os"
	"syscall"
)

// isPrivate says what lets others into a folder, which might be waiting there for us: a temporary folder belongs to
// everybody.
func isPrivate(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", dir)
	case !ok || int(owner.Uid) != os.Getuid():
		return fmt.Errorf("%s belongs to another user", dir)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("others can enter %s (%04o)", dir, info.Mode().Perm())
	}
	return nil
}

// keepPrivate gives the file that a socket is going to have its mode, where the system takes it from the socket.
// Elsewhere the folder alone keeps others out.
func keepPrivate(_, _ string, conn syscall.RawConn) error {
	return conn.Control(func(fd uintptr) { _ = syscall.Fchmod(int(fd), 0o600) })
}
