package wire_test

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"unsafe"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// A terminal knows no call that does not wait, so that it goes the way every descriptor goes on an older Linux: its
// mode is set.
func TestOutboxWhereCallsWait(t *testing.T) {
	w, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("this system has no pseudo-terminals")
	}
	defer w.Close()
	raw, err := w.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var number, lock int32
	if err := raw.Control(func(fd uintptr) {
		ioctl(t, fd, syscall.TIOCGPTN, &number)
		ioctl(t, fd, syscall.TIOCSPTLCK, &lock)
	}); err != nil {
		t.Fatal(err)
	}
	r, err := os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("this system does not let its pseudo-terminals be opened: ", err)
	}
	defer r.Close()
	w.Fd() // sets blocking mode
	o := wire.NewOutbox(w, 0)
	defer o.Close()
	buf := make([]byte, 100)
	for _, want := range []string{"first", "second"} {
		if err := o.Send([]byte(want)); err != nil {
			t.Fatal(err)
		}
		if n := readOnce(t, r, buf); string(buf[:n]) != want+"\n" {
			t.Errorf("got %q, want %q and a newline", buf[:n], want)
		}
	}
	// Nobody reads any more: a call that waits would hold Send.
	for range 1000 {
		if err := o.Send(make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
	}
}

func ioctl(t *testing.T, fd, request uintptr, arg *int32) {
	t.Helper()
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(unsafe.Pointer(arg))); errno != 0 {
		t.Fatal(errno)
	}
}
