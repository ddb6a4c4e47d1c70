//go:build unix && !linux

package wire

import "syscall"

// canSkipWaiting is false: only descriptors in non-blocking mode are written to
// directly.
const canSkipWaiting = false

// write writes the message and a newline in one system call, for which it copies
// them together: syscall offers no portable gathering write.
func (d *direct) write(fd uintptr) (int, syscall.Errno) {
	d.line = append(append(d.line[:0], d.msg...), '\n')
	n, err := syscall.Write(int(fd), d.line)
	if cap(d.line) > chunkSize {
		d.line = nil
	}
	if err == nil {
		return n, 0
	}
	errno, ok := err.(syscall.Errno)
	if !ok {
		errno = syscall.EIO
	}
	return 0, errno
}
