//go:build unix && !linux

package wire

import "syscall"

// hasNoWait says that only descriptors in non-blocking mode can be written to without waiting.
const hasNoWait = false

// write writes the message and a newline in one system call. It copies them together, for want of a portable gathering
// write.
func (d *direct) write(fd uintptr) (int, syscall.Errno) {
	d.line = append(append(d.line[:0], d.msg...), '\n')
	n, err := syscall.Write(int(fd), d.line)
	if cap(d.line) > chunkSize {
		d.line = nil
	}
	if errno, ok := err.(syscall.Errno); ok {
		return 0, errno
	}
	return n, 0
}
