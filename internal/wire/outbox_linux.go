package wire

import (
	"runtime"
	"syscall"
	"unsafe"
)

// hasNoWait says that each write can ask not to wait. That serves descriptors in blocking mode too, and to change their
// mode would be no way: whoever shares them, such as a terminal's other users, would notice.
const hasNoWait = runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64"

// rwfNoWait is RWF_NOWAIT of linux/fs.h. Pipes and sockets know it since Linux 6.4.
const rwfNoWait = 8

// write writes the message and a newline in one system call.
func (d *direct) write(fd uintptr) (int, syscall.Errno) {
	newline := byte('\n')
	iov := [2]syscall.Iovec{{Base: unsafe.SliceData(d.msg)}, {Base: &newline}}
	iov[0].SetLen(len(d.msg))
	iov[1].SetLen(1)
	var n uintptr
	var errno syscall.Errno
	if d.noWait {
		const here = ^uintptr(0) // as offset: that of the descriptor, if it has one
		n, _, errno = syscall.Syscall6(pwritev2(), fd, uintptr(unsafe.Pointer(&iov)), 2, here, here, rwfNoWait)
	} else {
		n, _, errno = syscall.Syscall(syscall.SYS_WRITEV, fd, uintptr(unsafe.Pointer(&iov)), 2)
	}
	return int(n), errno
}

// pwritev2 is the number of a system call that package syscall does not name.
func pwritev2() uintptr {
	if runtime.GOARCH == "amd64" {
		return 328
	}
	return 287
}
