//go:build unix

package openfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// withoutWaiting is the flag with which opening a pipe, or a file that another process has a lease of, does not wait,
// and a terminal does not become that of this program.
const withoutWaiting = unix.O_NONBLOCK | unix.O_NOCTTY

// Private reports whether nobody but the owner of a file can read or write it.
func Private(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 == 0 }

// ReadTrusted is Read for a file that decides which programs this user runs. It is refused if others can write it, or
// put another in its place: if everybody can write the file, or its folder or that of a link to it, or if it belongs to
// another user. A writable group is allowed, since on many systems each user has a group alone, and so is root's
// ownership.
//
// What root reads may belong to anybody, since containers see the files of users that they do not have, unless it lies
// where everybody can put a file, such as /tmp. doubt then says whose the file is; else it is "".
func ReadTrusted(path string, most int64) (data []byte, doubt string, err error) {
	data, info, err := Read(path, most)
	if err != nil {
		return nil, "", err
	}
	if HandedOver(path) {
		return data, "", nil
	}
	if doubt, err = distrust(path, info); err != nil {
		return nil, "", err
	}
	return data, doubt, nil
}

func distrust(path string, info fs.FileInfo) (doubt string, err error) {
	if info.Mode().Perm()&0o002 != 0 {
		return "", fmt.Errorf("%s can be written by everybody, who could so run programs as you (chmod o-w %[1]s)", path)
	}
	public := "" // a folder that everybody can put files into, but take none of others away
	for _, folder := range folders(path) {
		in, err := os.Stat(folder)
		if err != nil {
			return "", err
		}
		if in.Mode().Perm()&0o002 == 0 || readOnly(folder) {
			continue
		}
		if in.Mode()&fs.ModeSticky == 0 {
			return "", fmt.Errorf("%s can be replaced by everybody, who could so run programs as you, since its folder can be written by everybody (chmod o-w %s)", path, folder)
		}
		public = folder
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	us := os.Geteuid()
	if !ok || owner.Uid == 0 || int(owner.Uid) == us {
		return "", nil
	}
	doubt = fmt.Sprintf("%s belongs to another user (uid %d), who could so run programs as you", path, owner.Uid)
	switch {
	case us != 0:
		return "", errors.New(doubt + " (copy it, or name another file with --config)")
	case public != "":
		return "", fmt.Errorf("%s, and everybody can put files into %s (copy it to a folder of yours)", doubt, public)
	}
	return doubt, nil
}

// folders returns those that decide which file is at path: its own, and that of the file where links lead.
func folders(path string) []string {
	all := []string{filepath.Dir(path)}
	if target, err := filepath.EvalSymlinks(path); err == nil && filepath.Dir(target) != all[0] {
		all = append(all, filepath.Dir(target))
	}
	return all
}

// readOnly reports whether nobody can write a folder, because its file system is mounted so, as that of configurations
// in containers often is, with modes that say otherwise.
func readOnly(folder string) bool { return errors.Is(unix.Access(folder, unix.W_OK), unix.EROFS) }
