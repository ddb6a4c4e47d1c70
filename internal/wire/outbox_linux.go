package wire

import (
	"runtime"
	"syscall"
	"unsafe"
)

// canSkipWaiting says that a descriptor in blocking mode, too, may be written to
// without waiting. Changing its mode is no way: whoever shares it would notice.
const canSkipWaiting = runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64"

// noWait is RWF_NOWAIT of linux/fs.h. Pipes and sockets have it since Linux 6.4.
const noWait = 8

// write writes the message and a newline in one system call.
func (d *direct) write(fd uintptr) (int, syscall.Errno) {
	newline := byte('\n')
	iov := [2]syscall.Iovec{{Base: unsafe.SliceData(d.msg)}, {Base: &newline}}
	iov[0].SetLen(len(d.msg))
	iov[1].SetLen(1)
	var n uintptr
	var errno syscall.Errno
	if d.blocking {
		const here = ^uintptr(0) // offset -1: the descriptor's own, if any
		n, _, errno = syscall.Syscall6(pwritev2(), fd, uintptr(unsafe.Pointer(&iov)), 2, here, here, noWait)
	} else {
		n, _, errno = syscall.Syscall(syscall.SYS_WRITEV, fd, uintptr(unsafe.Pointer(&iov)), 2)
	}
	return int(n), errno
}

// pwritev2 is the number of the system call, which syscall does not name.
func pwritev2() uintptr {
	if runtime.GOARCH == "amd64" {
		return 328
	}
	return 287
}
