package child

import "golang.org/x/sys/unix"

// Conceal keeps other processes of the same user from reading the memory and the environment of this one, in which
// there are secrets that no child gets. It is neither traced nor dumped then. Root may do all that still. A program
// that this one runs is not concealed.
func Conceal() {
	unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) // A sandbox that forbids it conceals, too.
}
