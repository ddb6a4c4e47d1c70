//go:build unix

package wire_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"syscall"
	"testing"

	"github.com/mcp-workbench/workbench/internal/wire"
)

func BenchmarkOutbox(b *testing.B) {
	for _, kind := range []string{"pipe", "blockingPipe", "goroutine", "socketpair", "ioPipe"} {
		for _, size := range []int{200, 4000, 40000} {
			b.Run(fmt.Sprintf("%s/%d", kind, size), func(b *testing.B) {
				var r io.ReadCloser
				var w io.WriteCloser
				switch kind {
				case "pipe", "blockingPipe", "goroutine":
					pr, pw, err := os.Pipe()
					if err != nil {
						b.Fatal(err)
					}
					if kind != "pipe" {
						pw.Fd()
					}
					r, w = pr, pw
				case "socketpair":
					fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
					if err != nil {
						b.Fatal(err)
					}
					r, w = os.NewFile(uintptr(fds[0]), "r"), os.NewFile(uintptr(fds[1]), "w")
				case "ioPipe":
					r, w = io.Pipe()
				}
				rd := wire.NewReader(r, 0)
				if kind == "goroutine" {
					w = struct{ io.WriteCloser }{w}
				}
				o := wire.NewOutbox(w, 0)
				msg := call(size)
				b.ReportAllocs()
				for b.Loop() {
					if err := o.Send(msg); err != nil {
						b.Fatal(err)
					}
					if _, err := rd.Next(); err != nil {
						b.Fatal(err)
					}
				}
				o.Flush(context.Background())
				o.Close()
				w.Close()
				r.Close()
			})
		}
	}
}
