package faults

import (
	"fmt"
	"net"
	"syscall"
	"testing"
	"time"
)

// blackHole is an address of this machine that leaves attempts to connect to it without an answer.
func blackHole(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	bound, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", bound.(*syscall.SockaddrInet4).Port)
	for range 20 { // nobody accepts: the queue is full after the first or second
		conn, err := net.DialTimeout("tcp", address, 500*time.Millisecond)
		if err != nil {
			return address
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
	t.Fatal("all connections were made, want none behind a full queue")
	return ""
}

// A connection is given up after 10 s, whatever time a start has.
func TestFaultF12_BlackHole(t *testing.T) {
	address := blackHole(t)
	b := newBed(t, "", setup{
		sick: entry{"url": "http://" + address + "/mcp", "timeouts": entry{"start": "60s"}},
		top:  entry{"openTimeout": "100ms"}, unready: true,
	})
	b.shows("no connection within 10s")
}
