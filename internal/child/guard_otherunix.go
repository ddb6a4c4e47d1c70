//go:build unix && !linux

package child

import (
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	socketType   = unix.SOCK_STREAM
	receiveFlags = 0
)

// closedOnExec makes descriptors that no process inherits which is started meanwhile.
func closedOnExec(make func() ([2]int, error)) ([2]int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fds, err := make()
	if err == nil {
		unix.CloseOnExec(fds[0])
		unix.CloseOnExec(fds[1])
	}
	return fds, err
}

func veryFile(arg string) string { return arg }

func dispensable(int) {}

// adopt does nothing: orphans go to init.
func (g *guard) adopt() func() { return func() {} }

// reapAdopted has nothing to do: there are no containers.
func reapAdopted(int, int) {}

func (g *guard) startAwaiting(t *tree) { go t.await() }

// sweep does nothing: what is below us is known by its tree only.
func (g *guard) sweep() {}

func setMark(uint64) {}

const noMark = 0
