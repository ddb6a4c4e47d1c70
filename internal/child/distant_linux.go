package child

import (
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// near are the types of file systems that answer as soon as the machine's own disks and its kernel do.
var near = []string{
	"bcachefs", "binfmt_misc", "bpf", "btrfs", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "devtmpfs", "erofs", "exfat",
	"ext2", "ext3", "ext4", "f2fs", "hugetlbfs", "iso9660", "jfs", "mqueue", "nilfs2", "ntfs3", "overlay", "proc", "pstore", "ramfs",
	"rootfs", "securityfs", "squashfs", "sysfs", "tmpfs", "tracefs", "ubifs", "udf", "vfat", "xfs", "zfs",
}

// Distant reports whether the program or what runs it, the working directory, or a file that the sandbox lets in is on a
// file system that may not answer: one of a network, or of a program (FUSE). Whoever looks at a file there may wait for
// ever, in the kernel, where not even SIGKILL reaches them. Distant does not wait, since it looks at what is mounted and
// at what is near.
func (s Spec) Distant() bool {
	far := farMounts()
	if len(far) == 0 {
		return false
	}
	dir, err := s.directory()
	if err != nil {
		return false
	}
	paths := []string{dir}
	if s.Sandbox != nil {
		paths = slices.Concat(paths, s.Sandbox.Read, s.Sandbox.Write)
	}
	switch {
	case slices.ContainsFunc(paths, far.hold):
		return true
	case s.Again:
		return false
	}
	for _, path := range (command{name: s.Command, env: s.Env, dir: dir}).places() {
		if far.hold(path) {
			return true
		}
		if _, err := executable(path, s.Env); err == nil {
			by := interpreter(beginning(path))
			return filepath.IsAbs(by) && far.hold(by)
		}
	}
	return false
}

// mounts says of each mount point whether what is mounted there is not near; nil if all is.
type mounts map[string]bool

// farMounts returns what is mounted. It is a variable for tests alone.
var farMounts = new(mountTable).far

// mountTable reads what is mounted, and again when that has changed, of which the kernel tells who polls the file (proc(5)).
type mountTable struct {
	mu   sync.Mutex
	file *os.File // nil before it was read
	last mounts
}

func (t *mountTable) far() mounts {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file == nil {
		file, err := os.Open("/proc/self/mountinfo")
		if err != nil {
			return nil
		}
		t.file = file
	} else if !t.hasChanged() {
		return t.last
	}
	text, err := io.ReadAll(io.NewSectionReader(t.file, 0, math.MaxInt64))
	if err != nil {
		return nil
	}
	t.last = parseMounts(string(text))
	return t.last
}

func (t *mountTable) hasChanged() (yes bool) {
	raw, err := t.file.SyscallConn()
	if err != nil {
		return true
	}
	err = raw.Control(func(fd uintptr) {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLPRI}}
		n, err := unix.Poll(poll, 0)
		yes = err != nil || n > 0
	})
	return yes || err != nil
}

func parseMounts(text string) mounts {
	all, some := mounts{}, false
	for line := range strings.Lines(text) {
		// 36 35 98:0 ROOT MOUNTPOINT rw,noatime … - ext4 /dev/root rw (proc_pid_mountinfo(5))
		place, what, found := strings.Cut(line, " - ")
		fields := strings.Fields(place)
		if kind, _, ok := strings.Cut(what, " "); found && ok && len(fields) > 4 {
			far := !slices.Contains(near, kind)
			all[unescapeMount.Replace(fields[4])] = far // what is mounted last hides the others
			some = some || far
		}
	}
	if !some {
		return nil
	}
	return all
}

var unescapeMount = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// hold reports whether an absolute path leads to what is not near. Only what is near is looked at on the way there.
func (m mounts) hold(path string) bool {
	at, rest := "/", strings.Split(path, "/")
	for links := 0; !m[at]; {
		if len(rest) == 0 {
			return false
		}
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		target := ""
		if _, mounted := m[next]; !mounted {
			target, _ = os.Readlink(next) // "" if it is no link, or not there
		}
		if target == "" {
			at = next
			continue
		}
		const mostLinks = 40 // as many as the system follows (path_resolution(7))
		if links++; links > mostLinks {
			return false
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return true
}
