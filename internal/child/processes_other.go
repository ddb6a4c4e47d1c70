//go:build unix && !linux && !darwin

package child

import (
	"hash/fnv"
	"os/exec"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// processes asks ps. Where it does not know these columns, processes cannot be listed.
func processes() ([]process, error) { return ps("-A") }

func lookupProcess(pid int) (process, error) {
	list, err := ps("-p", strconv.Itoa(pid))
	if err != nil || len(list) != 1 {
		return process{}, unix.ESRCH
	}
	return list[0], nil
}

func ps(which ...string) ([]process, error) {
	args := append(which, "-o", "pid=", "-o", "ppid=", "-o", "pgid=", "-o", "state=", "-o", "lstart=")
	out, err := exec.Command("ps", args...).Output()
	if err != nil {
		return nil, err
	}
	var list []process
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 5 {
			continue
		}
		var n [3]int
		for i := range n {
			n[i], _ = strconv.Atoi(f[i])
		}
		start := fnv.New64a()
		start.Write([]byte(strings.Join(f[4:], " ")))
		sid, _ := unix.Getsid(n[0])
		list = append(list, process{
			pid: n[0], ppid: n[1], pgid: n[2], sid: sid,
			start: start.Sum64(), dead: f[3][0] == 'Z',
		})
	}
	return list, nil
}

// signal sends sig to the process unless its number belongs to another one by now.
func (p process) signal(sig unix.Signal) {
	if now, err := lookupProcess(p.pid); err == nil && now.start == p.start {
		unix.Kill(p.pid, sig)
	}
}
