package faults

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// hungDisk mounts a file system whose one file, "program", is badchild, and tells all about it but what is in it until
// answer is called: as of a network that is down, and not even SIGKILL ends who reads it meanwhile.
func hungDisk(t *testing.T) (folder string, answer func()) {
	content, err := os.ReadFile(wiretest.Program("badchild"))
	if err != nil {
		t.Fatal(err)
	}
	folder = t.TempDir()
	fd, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skip("no file system can be made here:", err)
	}
	if err := unix.Mount("disk", folder, "fuse", unix.MS_NOSUID|unix.MS_NODEV, fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fd)); err != nil {
		unix.Close(fd)
		t.Skip("no file system can be mounted here:", err)
	}
	kernel := os.NewFile(uintptr(fd), "/dev/fuse") // not before: the poller refuses what is not mounted
	answered := make(chan struct{})
	answer = sync.OnceFunc(func() { close(answered) })
	served := make(chan struct{})
	go func() {
		defer close(served)
		serveDisk(kernel, content, answered)
	}()
	t.Cleanup(func() {
		answer()
		kernel.Close() // what is asked from now on fails
		<-served
		if err := unix.Unmount(folder, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return folder, answer
}

// serveDisk speaks the protocol of the kernel (linux/fuse.h, revision 7.31) until the file is closed.
func serveDisk(kernel *os.File, content []byte, answered chan struct{}) {
	const (
		lookup, forget, getattr, open, read   = 1, 2, 3, 14, 15
		release, flush, initialize, interrupt = 18, 25, 26, 36
		batchForget                           = 42
		header, valid                         = 40, 3600
		program                               = 2
	)
	le := binary.LittleEndian
	attributes := func(node uint64) []byte {
		mode, size := uint32(unix.S_IFDIR|0o755), uint64(0)
		if node == program {
			mode, size = unix.S_IFREG|0o755, uint64(len(content))
		}
		b := le.AppendUint64(nil, node)
		b = le.AppendUint64(b, size)
		b = append(b, make([]byte, 8+3*8+3*4)...) // blocks and times
		b = le.AppendUint32(b, mode)
		b = le.AppendUint32(b, 1)
		return append(b, make([]byte, 5*4)...) // owner, device, size of a block
	}
	var replies sync.WaitGroup
	defer replies.Wait()
	for buf := make([]byte, 1<<17+4096); ; {
		n, err := kernel.Read(buf)
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EINTR) {
			continue // it was taken back
		}
		if err != nil {
			return
		}
		op, unique, node, body := le.Uint32(buf[4:]), le.Uint64(buf[8:]), le.Uint64(buf[16:]), buf[header:n]
		reply := func(errno unix.Errno, body []byte) {
			b := le.AppendUint32(nil, uint32(16+len(body)))
			b = le.AppendUint32(b, uint32(-int32(errno)))
			_, _ = kernel.Write(append(le.AppendUint64(b, unique), body...)) // who asked may be gone
		}
		switch op {
		case initialize:
			b := le.AppendUint32(nil, 7)
			b = le.AppendUint32(b, 31)
			b = append(b, body[8:12]...) // as far ahead as the kernel wants, in the call that reads: who makes it cannot be ended
			b = le.AppendUint32(b, 0)
			b = le.AppendUint32(b, 16|16<<16) // under way
			b = le.AppendUint32(b, 1<<17)     // the most that is written
			reply(0, append(b, make([]byte, 4+4+8*4)...))
		case lookup:
			if string(body) != "program\x00" {
				reply(unix.ENOENT, nil)
				break
			}
			b := le.AppendUint64(nil, program)
			b = le.AppendUint64(b, 0)
			b = le.AppendUint64(b, valid)
			b = le.AppendUint64(b, valid)
			reply(0, append(append(b, make([]byte, 8)...), attributes(program)...))
		case getattr:
			b := le.AppendUint64(nil, valid)
			reply(0, append(append(b, make([]byte, 8)...), attributes(node)...))
		case open:
			reply(0, make([]byte, 16))
		case read:
			from := min(le.Uint64(body[8:]), uint64(len(content)))
			to := min(from+uint64(le.Uint32(body[16:])), uint64(len(content)))
			replies.Go(func() {
				<-answered
				reply(0, content[from:to])
			})
		case release, flush:
			reply(0, nil)
		case forget, batchForget, interrupt:
		default:
			reply(unix.ENOSYS, nil)
		}
	}
}

// A disk that does not answer, as of a network that is down or a program that hangs, keeps whoever runs something from it
// waiting, in the kernel, and costs that server alone: one process, until the disk answers.
func TestFaultG97_HungDisk(t *testing.T) {
	t.Run("a start", func(t *testing.T) {
		folder, answer := hungDisk(t)
		b := newBed(t, "well", setup{unready: true, top: entry{"openTimeout": "100ms"},
			sick: entry{"command": folder + "/program", "timeouts": entry{"start": "1s"}}})
		well := b.pid("well")
		left := func() string {
			_, text, _ := strings.Cut(b.open().about("sick"), "still running after SIGKILL: pid ")
			return text[:len(text)-len(strings.TrimLeft(text, "0123456789"))]
		}
		first := ""
		if !eventually(func() bool { first = left(); return first != "" }) {
			t.Fatal("it is not said what cannot be ended")
		}
		time.Sleep(2 * time.Second) // time for another start
		if again := left(); again != first {
			t.Errorf("process %s cannot be ended, before it was %s", again, first)
		}
		if now := b.pid("well"); now != well {
			t.Errorf("the well server is process %d, it was %d", now, well)
		}
		answer()
		b.recovers()
		b.open() // with the server that is there now
	})
	t.Run("an end", func(t *testing.T) {
		folder, answer := hungDisk(t)
		b := newBed(t, "well", setup{unready: true, top: entry{"openTimeout": "100ms"}, sick: entry{"command": folder + "/program"}})
		b.CloseInput()
		began := time.Now()
		if got := b.Exit().ExitCode(); got != 1 {
			t.Errorf("got exit status %d, want 1", got)
		}
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("the end took %v", took)
		}
		answer()
		if !eventually(func() bool { return len(wiretest.Marked(b.mark)) == 0 }) {
			t.Errorf("left: %v", wiretest.Marked(b.mark))
		}
	})
}
