//go:build unix

package wire

import (
	"io"
	"syscall"
	"time"
)

// direct writes to a file descriptor without waiting for it. It is used by one
// goroutine at a time.
type direct struct {
	raw      syscall.RawConn
	blocking bool                  // the descriptor is in blocking mode
	try      func(fd uintptr) bool // tryOnce, bound once to save allocating it
	line     []byte                // where systems without gathering write put a line together

	// Passed to and from tryOnce.
	msg []byte
	n   int
	err error
}

// newDirect returns nil if w cannot be written to without waiting.
func newDirect(w io.Writer) *direct {
	f, ok := w.(interface {
		syscall.Conn
		SetWriteDeadline(time.Time) error
	})
	if !ok {
		return nil
	}
	// A file in blocking mode has no deadlines.
	blocking := f.SetWriteDeadline(time.Time{}) != nil
	if blocking && !canSkipWaiting {
		return nil
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return nil
	}
	d := &direct{raw: raw, blocking: blocking}
	d.try = d.tryOnce
	return d
}

// writeLine writes msg and a newline as far as goes without waiting, and returns
// how many bytes that was. errUnable says that it never works for this
// descriptor, and that nothing was written.
func (d *direct) writeLine(msg []byte) (int, error) {
	d.msg, d.n, d.err = msg, 0, nil
	err := d.raw.Write(d.try)
	d.msg = nil
	if err != nil {
		return 0, err
	}
	return d.n, d.err
}

// tryOnce writes once. It returns true to say that RawConn shall not wait until
// the descriptor is ready and call again.
func (d *direct) tryOnce(fd uintptr) bool {
	for {
		n, errno := d.write(fd)
		switch errno {
		case 0:
			d.n = n
		case syscall.EINTR:
			continue
		case syscall.EAGAIN:
		case syscall.EOPNOTSUPP, syscall.ENOSYS, syscall.EINVAL:
			d.err = errno
			if d.blocking {
				d.err = errUnable
			}
		default:
			d.err = errno
		}
		return true
	}
}
