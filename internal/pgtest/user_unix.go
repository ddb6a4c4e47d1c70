//go:build unix

package pgtest

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// quitSignal has PostgreSQL end at once.
func quitSignal() os.Signal { return syscall.SIGQUIT }

// somebody is a user without privileges; PostgreSQL does not run as root.
func somebody() (uid, gid int, ok bool) {
	if os.Geteuid() != 0 {
		return 0, 0, false
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			uid, _ = strconv.Atoi(u.Uid) // always a number here
			gid, _ = strconv.Atoi(u.Gid)
			return uid, gid, true
		}
	}
	return 0, 0, false
}

// GiveAway gives a folder to that user.
func GiveAway(dir string) error {
	uid, gid, ok := somebody()
	if !ok {
		return nil
	}
	return os.Chown(dir, uid, gid)
}

// Unprivileged has a command run as that user.
func Unprivileged(cmd *exec.Cmd) {
	if uid, gid, ok := somebody(); ok {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
}
