//go:build unix

package wire

import (
	"errors"
	"io"
	"syscall"
	"time"
)

// errUnable says that a descriptor cannot be written to without waiting.
var errUnable = errors.New("cannot write without waiting")

// direct writes to a file descriptor without waiting for it. It is used by one goroutine at a time.
type direct struct {
	raw      syscall.RawConn
	pollable bool                  // the descriptor can be in non-blocking mode, as Go waits for it
	noWait   bool                  // the mode does not matter, because each call asks not to wait
	try      func(fd uintptr) bool // tryOnce, bound once to save allocating it
	widened  bool                  // the pipe was asked to hold more, once
	//lint:ignore U1000 systems without gathering write put a line together here
	line []byte

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
	d := &direct{pollable: f.SetWriteDeadline(time.Time{}) == nil, noWait: hasNoWait}
	if !d.pollable && !d.noWait {
		return nil
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return nil
	}
	d.raw, d.try = raw, d.tryOnce
	if !d.noWait && raw.Control(setNonblock) != nil {
		return nil
	}
	return d
}

// setNonblock puts a descriptor back into the mode that os.File.Fd takes it out of.
func setNonblock(fd uintptr) { _ = syscall.SetNonblock(int(fd), true) }

// writeLine writes msg and a newline as far as goes without waiting, and returns how many bytes that was. After
// errUnable, which says that nothing was written, direct is of no use for this descriptor.
func (d *direct) writeLine(msg []byte) (int, error) {
	d.msg, d.n, d.err = msg, 0, nil
	err := d.raw.Write(d.try)
	d.msg = nil
	if err != nil {
		return 0, err
	}
	return d.n, d.err
}

// tryOnce writes once. It returns true to tell RawConn not to wait until the descriptor is ready and call again.
func (d *direct) tryOnce(fd uintptr) bool {
	for {
		n, errno := d.write(fd)
		switch {
		case errno == 0:
			d.n += n
			d.msg = d.msg[min(n, len(d.msg)):]
			if len(d.msg) > 0 && !d.widened {
				d.widened = true
				if widen(fd) {
					continue
				}
			}
		case errno == syscall.EINTR:
			continue
		case errno == syscall.EAGAIN:
		case d.noWait && refusesNoWait(errno):
			d.noWait = false
			if d.pollable {
				setNonblock(fd)
				continue
			}
			d.err = errUnable
		default:
			d.err = errno
		}
		return true
	}
}

// refusesNoWait reports whether errno may be a kernel's, or a sandbox's, way to say that it does not know the call or
// the wish not to wait.
func refusesNoWait(errno syscall.Errno) bool {
	switch errno {
	case syscall.EOPNOTSUPP, syscall.ENOSYS, syscall.EINVAL, syscall.EPERM:
		return true
	}
	return false
}
