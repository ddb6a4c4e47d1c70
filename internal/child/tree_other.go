//go:build unix && !linux

package child

import (
	"errors"
	"syscall"
)

func sysProcAttr(syscall.Signal) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// await waits for the process and reaps it, which cannot be told apart here. For the moment until the lock is held the
// number is free; the system gives numbers out in turn, so that it does not come back so soon.
func (t *tree) await() {
	status := wait4(t.pid)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.setExit(status)
}

func closeRange(uint) error { return errors.ErrUnsupported }
