//go:build unix

package wire_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"
	"testing"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// addSockets adds what programs started by Node have for standard input and output.
func addSockets(all map[string]func(testing.TB) link) {
	open := func(t testing.TB, nonblocking bool) link {
		fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, fd := range fds {
			if err := syscall.SetNonblock(fd, nonblocking); err != nil {
				t.Fatal(err)
			}
		}
		return link{os.NewFile(uintptr(fds[0]), "reader"), os.NewFile(uintptr(fds[1]), "writer")}
	}
	all["socket pair"] = func(t testing.TB) link { return open(t, true) }
	all["socket pair in blocking mode"] = func(t testing.TB) link { return open(t, false) }
}

// When Send returns, the message has left, newline and all, in one piece.
func TestOutboxWritesDirectly(t *testing.T) {
	direct := map[string]bool{"pipe": true, "socket pair": true, "TCP": true}
	if runtime.GOOS == "linux" {
		direct["pipe in blocking mode"] = true
		direct["socket pair in blocking mode"] = true
	}
	for name, open := range links() {
		if !direct[name] {
			continue
		}
		t.Run(name, func(t *testing.T) {
			l := open(t)
			defer l.r.Close()
			defer l.w.Close()
			o := wire.NewOutbox(l.w, 0)
			defer o.Close()
			for _, want := range []string{"", "hello", string(make([]byte, 30_000))} {
				if err := o.Send([]byte(want)); err != nil {
					t.Fatal(err)
				}
				buf := make([]byte, 40_000)
				if n := readOnce(t, l.r, buf); string(buf[:n]) != want+"\n" {
					t.Errorf("got %d bytes at once, want the message of %d and a newline", n, len(want))
				}
			}
		})
	}
}

// readOnce reads without waiting for data.
func readOnce(t *testing.T, r io.Reader, buf []byte) (n int) {
	t.Helper()
	raw, err := r.(syscall.Conn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var failed error
	if err := raw.Read(func(fd uintptr) bool {
		if failed = syscall.SetNonblock(int(fd), true); failed == nil {
			n, failed = syscall.Read(int(fd), buf)
		}
		return true
	}); err != nil || failed != nil {
		t.Fatalf("got %v, %v, want data", err, failed)
	}
	return n
}

func TestOutboxSendAllocatesNothing(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	o := wire.NewOutbox(w, 0)
	defer o.Close()
	msg := call(200)
	buf := make([]byte, 4096)
	if got := testing.AllocsPerRun(1000, func() {
		if err := o.Send(msg); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Read(buf); err != nil {
			t.Fatal(err)
		}
	}); got != 0 {
		t.Errorf("got %v allocations, want none", got)
	}
}

func TestOutboxToFile(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("before\n"); err != nil {
		t.Fatal(err)
	}
	o := wire.NewOutbox(f, 0)
	defer o.Close()
	want := "before\n"
	for i := range 100 {
		want += fmt.Sprintln(i)
		if err := o.Send(fmt.Append(nil, i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(f.Name()); err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestOutboxFullDisk(t *testing.T) {
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no /dev/full")
	}
	defer f.Close()
	o := wire.NewOutbox(f, 0)
	_ = o.Send([]byte("a")) // fails here or in the goroutine
	<-o.Done()
	if err := o.Err(); err == nil || err == wire.ErrClosed {
		t.Errorf("got %v, want the error of the write", err)
	}
}

func BenchmarkOutbox(b *testing.B) {
	open := links()
	open["pipe behind a goroutine"] = func(t testing.TB) link {
		l := open["pipe"](t)
		return link{l.r, struct{ io.WriteCloser }{l.w}}
	}
	for _, name := range []string{"pipe", "pipe in blocking mode", "pipe behind a goroutine", "socket pair", "io.Pipe"} {
		for _, size := range []int{200, 4000, 40000} {
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
				l := open[name](b)
				defer l.r.Close()
				defer l.w.Close()
				r := wire.NewReader(l.r, 0)
				o := wire.NewOutbox(l.w, 0)
				defer o.Close()
				msg := call(size)
				b.SetBytes(int64(len(msg)))
				b.ReportAllocs()
				for b.Loop() {
					if err := o.Send(msg); err != nil {
						b.Fatal(err)
					}
					if _, err := r.Next(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
