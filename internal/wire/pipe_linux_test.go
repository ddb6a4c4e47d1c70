package wire_test

import (
	"bytes"
	"context"
	"os"
	"syscall"
	"testing"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// A large message leaves in one go, although nobody reads yet: the pipe grows with the first that it does not hold.
func TestOutboxWidensPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	before := pipeSize(t, w)
	o := wire.NewOutbox(w, 0)
	defer o.Close()
	if err := o.Send([]byte("small")); err != nil {
		t.Fatal(err)
	}
	if got := pipeSize(t, w); got != before {
		t.Errorf("a small message made the pipe hold %d bytes, want %d as before", got, before)
	}
	if err := o.Send(bytes.Repeat([]byte("x"), 200<<10)); err != nil {
		t.Fatal(err)
	}
	if pipeSize(t, w) == before {
		t.Fatal("the pipe holds no more than before")
	}
	now, cancel := context.WithCancel(t.Context())
	cancel()
	if err := o.Flush(now); err != nil {
		t.Errorf("a message of 200 KiB is still queued: %v", err)
	}
}

func TestReaderWidensPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	before := pipeSize(t, r)
	wrote := make(chan error, 1)
	go func() {
		_, err := w.Write(append(bytes.Repeat([]byte("x"), 200<<10), '\n'))
		wrote <- err
		w.Close()
	}()
	line, err := wire.NewReader(r, 0).Next()
	if err != nil || len(line) != 200<<10 {
		t.Fatalf("got %d bytes and error %v, want 200 KiB", len(line), err)
	}
	if err := <-wrote; err != nil {
		t.Fatal(err)
	}
	if got := pipeSize(t, r); got == before {
		t.Error("the pipe holds no more than before")
	}
}

// pipeSize returns how many bytes a pipe holds.
func pipeSize(t *testing.T, f *os.File) int {
	t.Helper()
	raw, err := f.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	const getPipeSize = 1032 // F_GETPIPE_SZ
	var size uintptr
	var errno syscall.Errno
	if err := raw.Control(func(fd uintptr) {
		size, _, errno = syscall.Syscall(syscall.SYS_FCNTL, fd, getPipeSize, 0)
	}); err != nil {
		t.Fatal(err)
	}
	if errno != 0 {
		t.Fatal(errno)
	}
	return int(size)
}
