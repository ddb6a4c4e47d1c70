//go:build unix

package lifetime

import (
	"io"
	"os"
	"syscall"
)

// Pollable puts pipes and sockets into non-blocking mode, so that a client that does not read never blocks a goroutine
// of ours and a read can be ended. restore puts them back, since the mode belongs to what others may share.
func Pollable(in io.Reader, out io.Writer) (io.Reader, io.Writer, func()) {
	var undo []func()
	if f, ok := in.(file); ok {
		if p := nonblocking(f, &undo); p != nil {
			in = p
		}
	}
	if f, ok := out.(file); ok {
		if p := nonblocking(f, &undo); p != nil {
			out = p
		}
	}
	return in, out, func() {
		for _, u := range undo {
			u()
		}
	}
}

// file is an *os.File, or what has one.
type file interface {
	Name() string
	Stat() (os.FileInfo, error)
	syscall.Conn
}

// nonblocking returns a pollable file of the same descriptor, or nil.
func nonblocking(f file, undo *[]func()) *os.File {
	st, err := f.Stat()
	if err != nil || st.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return nil
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return nil
	}
	var p *os.File
	_ = conn.Control(func(fd uintptr) {
		if flags, _, e := syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_GETFL, 0); e != 0 || flags&syscall.O_NONBLOCK != 0 {
			return // it is already, or cannot be
		}
		if syscall.SetNonblock(int(fd), true) != nil {
			return
		}
		*undo = append(*undo, func() { _ = syscall.SetNonblock(int(fd), false) })
		// The descriptor stays f's; a duplicate of it is p's own to close.
		if dup, err := syscall.Dup(int(fd)); err == nil {
			syscall.CloseOnExec(dup)
			p = os.NewFile(uintptr(dup), f.Name())
		}
	})
	return p
}
