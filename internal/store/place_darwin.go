package store

import "golang.org/x/sys/unix"

// networkFS names the network file system that a folder is on; "" is none.
func networkFS(dir string) (string, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return "", err
	}
	if s.Flags&unix.MNT_LOCAL != 0 {
		return "", nil
	}
	return unix.ByteSliceToString(s.Fstypename[:]), nil
}
