package wire

import "golang.org/x/sys/unix"

// halfClosed is the event that the peer of a socket will write no more.
const halfClosed = unix.POLLRDHUP
