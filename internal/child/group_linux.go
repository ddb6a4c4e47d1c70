package child

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Control groups (cgroups(7), version 2) hold what a process starts, whatever it does to its session, its parents and
// its marks. A guard makes one for itself where it may, which is below its own one, and in that one for each tree. It
// keeps a lock on its own, by which others see that it lives.

const groupPrefix = "workbench-"

// groups is the control group of a guard; nil where there is none.
type groups struct {
	dir  *os.File // holds the lock
	path string
}

// newGroups makes the group of a guard. It ends what is left in groups of guards that were killed together with whoever
// started them.
func newGroups() *groups {
	base := ownGroup()
	if base == "" {
		return nil
	}
	endAbandoned(base)
	const tries = 10 // another guard may find the group before it is locked, and take it for abandoned
	for range tries {
		g := &groups{path: filepath.Join(base, fmt.Sprintf("%s%d-%x", groupPrefix, os.Getpid(), rand.Uint64()))}
		if os.Mkdir(g.path, 0o700) != nil {
			return nil
		}
		var err error
		if g.dir, err = lockFolder(g.path); err != nil {
			continue
		}
		if _, err := os.Stat(g.path); err == nil {
			return g
		}
		_ = g.dir.Close() // it is gone already
	}
	return nil
}

// ownGroup returns the folder of the group that this process is in, "" if it has none.
func ownGroup() string {
	membership, _ := os.ReadFile("/proc/self/cgroup")
	_, ours, found := strings.Cut("\n"+string(membership), "\n0::")
	ours, _, _ = strings.Cut(ours, "\n")
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(mounts)) {
		// 41 31 0:38 ROOT MOUNTPOINT rw,relatime … - cgroup2 … (proc_pid_mountinfo(5))
		fields := strings.Fields(line)
		if !found || len(fields) < 5 || !strings.Contains(line, " - cgroup2 ") {
			continue
		}
		if rest, ok := strings.CutPrefix(ours, strings.TrimSuffix(fields[3], "/")); ok {
			return filepath.Join(fields[4], rest)
		}
	}
	return ""
}

// lockFolder opens a folder and locks it; it fails at once if another process has done so.
func lockFolder(path string) (*os.File, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

// endAbandoned ends what is in the groups of guards that are gone.
func endAbandoned(base string) {
	entries, _ := os.ReadDir(base)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), groupPrefix) {
			continue
		}
		path := filepath.Join(base, e.Name())
		if dir, err := lockFolder(path); err == nil {
			group(path).kill()
			group(path).remove()
			_ = dir.Close()
		}
	}
}

// close removes the group, from which all is gone.
func (g *groups) close() {
	if g != nil {
		group(g.path).remove()
		_ = g.dir.Close()
	}
}

// group is the folder of the control group of a tree; "" if the tree has none.
type group string

// add makes the group of a tree, "" if that cannot be done.
func (g *groups) add(id uint64) group {
	if g == nil {
		return ""
	}
	path := filepath.Join(g.path, strconv.FormatUint(id, 10))
	if os.Mkdir(path, 0o700) != nil {
		return ""
	}
	return group(path)
}

// enter has a process start in the group, until done is called.
func (g group) enter(attr *syscall.SysProcAttr) (done func()) {
	if g == "" {
		return func() {}
	}
	fd, err := unix.Open(string(g), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return func() {}
	}
	attr.UseCgroupFD, attr.CgroupFD = true, fd
	return func() { unix.Close(fd) }
}

// walk calls do for the group, after all groups that were made in it.
func (g group) walk(do func(path string)) {
	if g == "" {
		return
	}
	entries, _ := os.ReadDir(string(g))
	for _, e := range entries {
		if e.IsDir() {
			group(filepath.Join(string(g), e.Name())).walk(do)
		}
	}
	do(string(g))
}

// members adds the processes that are in the group to a set.
func (g group) members(in map[int]bool) {
	g.walk(func(path string) {
		list, _ := os.ReadFile(filepath.Join(path, "cgroup.procs"))
		for number := range bytes.FieldsSeq(list) {
			if pid, err := strconv.Atoi(string(number)); err == nil && pid > 0 { // 0 is in another namespace
				in[pid] = true
			}
		}
	})
}

// kill ends all processes in the group, those that are being born too (Linux 5.14).
func (g group) kill() {
	if g != "" {
		_ = os.WriteFile(filepath.Join(string(g), "cgroup.kill"), []byte("1"), 0) // else each is killed on its own
	}
}

// remove removes the group, in which no process is left.
func (g group) remove() { g.walk(func(path string) { _ = unix.Rmdir(path) }) }
