package child

import (
	"os"

	"golang.org/x/sys/unix"
)

const pipeSize = 1 << 20

// widen makes room for a large message in a pipe, so that writer and reader need not alternate every 64 KiB.
// The system may refuse: what one user may have in pipes is limited.
func widen(f *os.File) {
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	conn.Control(func(fd uintptr) { unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize) })
}
