//go:build unix

package child

import (
	"cmp"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// lifeline is an end of the socket between a Guard and its guard. Package net would do the same, but a program that
// imports it is initialised late: see package guardian.
//
// A call that a signal interrupts is made again at once, and not when the poller says so: it has said so already.
type lifeline struct {
	*os.File
	raw syscall.RawConn
}

// socketPair makes the lifeline. Both ends are closed on exec: it must end with us, not with some other child of ours.
func socketPair() ([2]int, error) {
	return closedOnExec(func() ([2]int, error) { return unix.Socketpair(unix.AF_UNIX, socketType, 0) })
}

// newLifeline makes an end of a descriptor.
func newLifeline(fd int) (*lifeline, error) {
	if _, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE); err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(fd, true); err != nil { // or reading would take a thread, and Close wait for it
		return nil, err
	}
	file := os.NewFile(uintptr(fd), "lifeline")
	raw, err := file.SyscallConn()
	return &lifeline{file, raw}, err
}

// send writes some bytes, few enough to go at once, with descriptors.
func (l *lifeline) send(b, rights []byte) (err error) {
	werr := l.raw.Write(func(fd uintptr) bool {
		for err = unix.EINTR; err == unix.EINTR; {
			_, err = unix.SendmsgN(int(fd), b, rights, nil, 0)
		}
		return err != unix.EAGAIN
	})
	return cmp.Or(werr, err)
}

// receive reads what there is into b, and what came with it into rights. The end is io.EOF.
func (l *lifeline) receive(b, rights []byte) (n, rightsLen int, err error) {
	rerr := l.raw.Read(func(fd uintptr) bool {
		for err = unix.EINTR; err == unix.EINTR; {
			n, rightsLen, _, _, err = unix.Recvmsg(int(fd), b, rights, receiveFlags)
		}
		return err != unix.EAGAIN
	})
	if err = cmp.Or(rerr, err); n == 0 && err == nil {
		err = io.EOF
	}
	return n, rightsLen, err
}

// closeWrite has the other side read the end, and lets it write on.
func (l *lifeline) closeWrite() {
	_ = l.raw.Control(func(fd uintptr) { unix.Shutdown(int(fd), unix.SHUT_WR) })
}
