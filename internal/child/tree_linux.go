package child

import (
	"math"
	"syscall"

	"golang.org/x/sys/unix"
)

func sysProcAttr(dies syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: dies}
}

// await waits for the process, then reaps it.
func (t *tree) await() {
	for unix.Waitid(unix.P_PID, t.pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	t.reap()
}

// reap reaps the process, which is dead. Until then it keeps its number, so that whoever has the lock and finds it held
// can use the number.
func (t *tree) reap() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.setExit(wait4(t.pid))
}

// closeRange marks all descriptors from first on as to be closed on exec (Linux 5.11).
func closeRange(first uint) error {
	return unix.CloseRange(first, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
}
