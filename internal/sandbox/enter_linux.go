package sandbox

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The versions of Landlock from which a part can be enforced (landlock(7)).
const (
	abiFiles    = 1
	abiTruncate = 3
	abiPorts    = 4
	abiDevices  = 5
	abiScopes   = 6
)

// abi returns the version of Landlock that the kernel has; 0 if there is none.
func abi() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// Missing returns the parts of the rules that cannot be enforced on this system.
func (r *Rules) Missing() []string {
	var missing []string
	version := abi()
	need := func(least int, part string) {
		if version < least {
			missing = append(missing, fmt.Sprintf("%s (Landlock %d; the kernel has %d)", part, least, version))
		}
	}
	need(abiFiles, "files")
	need(abiTruncate, "the truncation of files")
	if !r.Network && len(r.Ports) > 0 {
		need(abiPorts, "TCP ports")
	}
	need(abiScopes, "signals and abstract sockets")
	if !filters {
		missing = append(missing, "kinds of sockets (no filter of system calls for this processor)")
	}
	return missing
}

const (
	readRights  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	writeRights = readRights | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_REFER |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM
	fileRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	allRights  = writeRights | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// Enter has the rules hold for the calling thread, and for all that it starts, from now on and for ever: the caller has
// locked its goroutine to the thread, and ends both. What cannot be enforced is left out: whoever minds asks Missing
// before.
func (r *Rules) Enter() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if err := dropCapabilities(); err != nil {
		return err
	}
	if err := r.restrict(abi()); err != nil {
		return err
	}
	return r.filter()
}

// handled are the rights to files that a version of Landlock knows.
func handled(version int) uint64 {
	rights := uint64(allRights)
	for _, part := range []struct {
		from  int
		right uint64
	}{{2, unix.LANDLOCK_ACCESS_FS_REFER}, {abiTruncate, unix.LANDLOCK_ACCESS_FS_TRUNCATE}, {abiDevices, unix.LANDLOCK_ACCESS_FS_IOCTL_DEV}} {
		if version < part.from {
			rights &^= part.right
		}
	}
	return rights
}

// ruleset is the attribute of landlock_create_ruleset as far as the kernels of abiScopes know it.
type ruleset struct{ fs, net, scoped uint64 }

// restrict takes the rules of Landlock on.
func (r *Rules) restrict(version int) error {
	if version < abiFiles {
		return nil
	}
	attr := ruleset{fs: handled(version)}
	size := unsafe.Sizeof(attr.fs)
	if version >= abiPorts {
		size += unsafe.Sizeof(attr.net)
		if !r.Network {
			attr.net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		}
	}
	if version >= abiScopes {
		size += unsafe.Sizeof(attr.scoped)
		attr.scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return os.NewSyscallError("landlock_create_ruleset", errno)
	}
	set := int(fd)
	defer unix.Close(set)
	for _, path := range r.Read {
		if err := allow(set, path, readRights&attr.fs); err != nil {
			return err
		}
	}
	for _, path := range r.Write {
		if err := allow(set, path, writeRights&attr.fs); err != nil {
			return err
		}
	}
	if attr.net != 0 {
		for _, port := range r.Ports {
			if err := allowPort(set, port); err != nil {
				return err
			}
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(set), 0, 0); errno != 0 {
		return os.NewSyscallError("landlock_restrict_self", errno)
	}
	return nil
}

// allow adds a path to a ruleset. One that is gone by now allows nothing.
func allow(set int, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EACCES) {
		return nil
	}
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return err
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= fileRights
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	return addRule(set, unix.LANDLOCK_RULE_PATH_BENEATH, unsafe.Pointer(&rule))
}

// ruleNetPort is the kind of a rule about ports.
const ruleNetPort = 2

func allowPort(set int, port uint16) error {
	rule := struct{ access, port uint64 }{unix.LANDLOCK_ACCESS_NET_CONNECT_TCP, uint64(port)}
	return addRule(set, ruleNetPort, unsafe.Pointer(&rule))
}

func addRule(set int, kind uintptr, rule unsafe.Pointer) error {
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(set), kind, uintptr(rule), 0, 0, 0); errno != 0 {
		return os.NewSyscallError("landlock_add_rule", errno)
	}
	return nil
}

// dropCapabilities leaves a thread of root what concerns files and users, which the rules bound, and nothing else.
func dropCapabilities() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return err
	}
	kept := uint32(0)
	for _, capability := range []int{unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_SETGID, unix.CAP_SETUID} {
		kept |= 1 << capability
	}
	before := data
	for i := range data {
		keep := uint32(0)
		if i == 0 {
			keep = kept
		}
		data[i].Effective &= keep
		data[i].Permitted &= keep
		data[i].Inheritable = 0
	}
	if slices.Equal(before[:], data[:]) {
		return nil
	}
	return unix.Capset(&header, &data[0])
}
