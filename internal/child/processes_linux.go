package child

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// checkProc returns an error where /proc shows the numbers of another namespace of processes (pid_namespaces(7)), as in
// one that was made without a /proc of its own. By those nobody is to be looked for, let alone sent a signal.
var checkProc = sync.OnceValue(func() error {
	self, err := os.Readlink("/proc/self")
	if err == nil && self != strconv.Itoa(os.Getpid()) {
		err = errors.ErrUnsupported
	}
	return err
})

// processes lists what /proc shows. A process that ends meanwhile may be missing.
func processes() ([]process, error) {
	if err := checkProc(); err != nil {
		return nil, err
	}
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	list := make([]process, 0, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if p, err := lookupProcess(pid); err == nil {
				p.mark = markOf(pid)
				list = append(list, p)
			}
		}
	}
	return list, nil
}

// lookupProcess reads /proc/PID/stat (proc_pid_stat(5)).
func lookupProcess(pid int) (process, error) {
	if err := checkProc(); err != nil {
		return process{}, err
	}
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return process{}, err
	}
	defer unix.Close(fd)
	var buf [1024]byte
	n, err := unix.Read(fd, buf[:])
	if err != nil {
		return process{}, err
	}
	return parseStat(pid, buf[:n])
}

// parseStat parses "1 (name) S ppid pgid sid …"; the name may hold spaces and parentheses.
func parseStat(pid int, stat []byte) (process, error) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 {
		return process{}, unix.ESRCH
	}
	number := func(i int) int {
		n, _ := strconv.Atoi(string(fields[i]))
		return n
	}
	start, err := strconv.ParseUint(string(fields[19]), 10, 64)
	return process{
		pid: pid, ppid: number(1), pgid: number(2), sid: number(3),
		start: start,
		dead:  fields[0][0] == 'Z' || fields[0][0] == 'X',
	}, err
}

// signal sends sig to the process, and to no other that has its number now: a pidfd stays with the process it was
// opened for, and the start time shows that it was opened for this one.
func (p process) signal(sig unix.Signal) {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err == nil {
		defer unix.Close(fd)
	}
	if now, gone := lookupProcess(p.pid); gone != nil || now.start != p.start {
		return
	}
	if err != nil { // before Linux 5.3, or forbidden by a sandbox
		unix.Kill(p.pid, sig)
		return
	}
	unix.PidfdSendSignal(fd, sig, nil, 0)
}
