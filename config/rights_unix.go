//go:build unix

package config

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// distrust says why a file must not decide which programs this user runs, because others can write it; nil if they cannot.
// A writable group is allowed, since on many systems each user has a group alone. What root reads may belong to anybody:
// containers see the files of users that they do not have.
func distrust(path string, info fs.FileInfo) error {
	if info.Mode().Perm()&0o002 != 0 {
		return fmt.Errorf("%s can be written by everybody, who could so run programs as you (chmod o-w %[1]s)", path)
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if us := os.Geteuid(); ok && us != 0 && owner.Uid != 0 && int(owner.Uid) != us {
		return fmt.Errorf("%s belongs to another user (uid %d), who could so run programs as you (copy it, or name another file with --config)", path, owner.Uid)
	}
	return nil
}
