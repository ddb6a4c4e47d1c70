//go:build linux && (amd64 || arm64)

package sandbox

import (
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// filters says that system calls can be filtered here.
const filters = true

// Where a filter finds what it looks at, in struct seccomp_data (seccomp(2)); the processors that there are filters for
// have the lower half of an argument first.
const (
	atNumber   = 0
	atArch     = 4
	atArgument = 16 // each has 8 bytes
)

const (
	retAllow = 0x7fff0000
	retErrno = 0x00050000
)

// program is a filter that is being written.
type program []unix.SockFilter

func (p *program) load(at uint32) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at})
}

func (p *program) mask(k uint32) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: k})
}

func (p *program) ret(k uint32) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k})
}

// when has what then writes be passed by unless what was loaded is k.
func (p *program) when(k uint32, then func()) {
	at := len(*p)
	*p = append(*p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k})
	then()
	(*p)[at].Jf = uint8(len(*p) - at - 1)
}

// unless is when the other way round.
func (p *program) unless(k uint32, then func()) {
	at := len(*p)
	*p = append(*p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k})
	then()
	(*p)[at].Jt = uint8(len(*p) - at - 1)
}

func (p *program) refuse(errno unix.Errno) { p.ret(retErrno | uint32(errno)) }

// filter has system calls of the calling thread be refused that the rules do not allow and Landlock does not know:
// sockets by their kind, connections past Landlock, io_uring, which makes sockets past a filter, and the keys that the
// kernel keeps for the user.
func (r *Rules) filter() error {
	arch := uint32(unix.AUDIT_ARCH_X86_64)
	if runtime.GOARCH == "arm64" {
		arch = unix.AUDIT_ARCH_AARCH64
	}
	var p program
	p.load(atArch)
	p.unless(arch, func() { p.refuse(unix.EPERM) }) // programs of another processor number their calls otherwise
	p.load(atNumber)
	if runtime.GOARCH == "amd64" {
		const x32 = 0x40000000
		p = append(p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, K: x32, Jf: 1})
		p.refuse(unix.ENOSYS)
	}
	for _, call := range []uint32{unix.SYS_IO_URING_SETUP, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL} {
		p.when(call, func() { p.refuse(unix.ENOSYS) })
	}
	if !r.Network {
		p.when(unix.SYS_LISTEN, func() { p.refuse(unix.EACCES) })
	}
	if !r.Network && len(r.Ports) > 0 {
		for _, call := range []struct{ number, flags uint32 }{{unix.SYS_SENDTO, 3}, {unix.SYS_SENDMSG, 2}, {unix.SYS_SENDMMSG, 3}} {
			p.when(call.number, func() { refuseFastOpen(&p, call.flags) })
		}
	}
	p.when(unix.SYS_SOCKET, func() { r.sockets(&p) })
	p.ret(retAllow)
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	const setModeFilter = 1
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, setModeFilter, 0, uintptr(unsafe.Pointer(&prog))); errno != 0 {
		return os.NewSyscallError("seccomp", errno)
	}
	return nil
}

// refuseFastOpen decides on a call that sends, whose flags are one of its arguments: what connects by its first data
// (TCP Fast Open) connects past Landlock. It is refused as by a system that has no such thing.
func refuseFastOpen(p *program, flags uint32) {
	p.load(atArgument + 8*flags)
	p.mask(unix.MSG_FASTOPEN)
	p.when(unix.MSG_FASTOPEN, func() { p.refuse(unix.EOPNOTSUPP) })
	p.ret(retAllow)
}

// sockets decides on a call of socket(2).
func (r *Rules) sockets(p *program) {
	p.load(atArgument)
	if !r.Unix {
		p.when(unix.AF_UNIX, func() { p.refuse(unix.EACCES) })
	}
	if r.Network {
		return // what follows allows the call
	}
	if r.Unix {
		p.when(unix.AF_UNIX, func() { p.ret(retAllow) })
	}
	p.when(unix.AF_NETLINK, func() { // which interfaces there are
		p.load(atArgument + 16)
		p.when(unix.NETLINK_ROUTE, func() { p.ret(retAllow) })
		p.refuse(unix.EACCES)
	})
	if len(r.Ports) > 0 {
		for _, family := range []uint32{unix.AF_INET, unix.AF_INET6} {
			p.when(family, func() {
				p.load(atArgument + 8)
				p.mask(0xf) // without SOCK_CLOEXEC and SOCK_NONBLOCK
				p.unless(unix.SOCK_STREAM, func() { p.refuse(unix.EACCES) })
				p.load(atArgument + 16) // of the kinds of streams Landlock knows TCP alone
				p.when(0, func() { p.ret(retAllow) })
				p.when(unix.IPPROTO_TCP, func() { p.ret(retAllow) })
				p.refuse(unix.EACCES)
			})
		}
	}
	p.refuse(unix.EACCES)
}
