package child

import (
	"math"
	"syscall"

	"golang.org/x/sys/unix"
)

func sysProcAttr(dies syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: dies}
}

// await waits for the process, then reaps it. Between the two it is dead but keeps its number, so that whoever holds
// the lock and finds it unreaped can use the number.
func (t *tree) await() {
	for unix.Waitid(unix.P_PID, t.pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.setExit(wait4(t.pid))
}

// closeRange marks all descriptors from first on as to be closed on exec (Linux 5.11).
func closeRange(first uint) error {
	return unix.CloseRange(first, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
}
