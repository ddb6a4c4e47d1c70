package child

import "golang.org/x/sys/unix"

// setMark makes all processes that are started from now on carry mark, and with them all that they start, whatever
// session they make and whoever dies: it is what tells an orphan's origin when several servers run. The mark is the
// soft limit on file locks, which every process inherits, anybody may read, and Linux has not enforced since 2.4.25
// (getrlimit(2)). It holds for the whole process, so that only one which does nothing but start others may use it.
func setMark(mark uint64) {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_LOCKS, &limit) == nil {
		unix.Setrlimit(unix.RLIMIT_LOCKS, &unix.Rlimit{Cur: min(mark, limit.Max), Max: limit.Max})
	}
}

// noMark is the mark that no tree has.
const noMark = unix.RLIM_INFINITY

// markOf returns what the process carries, noMark if nothing or unknown.
func markOf(pid int) uint64 {
	var limit unix.Rlimit
	if unix.Prlimit(pid, unix.RLIMIT_LOCKS, nil, &limit) != nil {
		return noMark
	}
	return limit.Cur
}
