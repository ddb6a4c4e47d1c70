package child

import "golang.org/x/sys/unix"

// processes asks the kernel.
func processes() ([]process, error) {
	infos, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}
	list := make([]process, len(infos))
	for i := range infos {
		list[i] = fromKinfo(&infos[i])
	}
	return list, nil
}

func lookupProcess(pid int) (process, error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return process{}, err
	}
	return fromKinfo(info), nil
}

func fromKinfo(info *unix.KinfoProc) process {
	const zombie = 5 // SZOMB in sys/proc.h
	pid := int(info.Proc.P_pid)
	sid, _ := unix.Getsid(pid)
	return process{
		pid: pid, ppid: int(info.Eproc.Ppid), pgid: int(info.Eproc.Pgid), sid: sid,
		start: uint64(info.Proc.P_starttime.Sec)*1e6 + uint64(info.Proc.P_starttime.Usec),
		dead:  info.Proc.P_stat == zombie,
	}
}

// signal sends sig to the process unless its number belongs to another one by now.
func (p process) signal(sig unix.Signal) {
	if now, err := lookupProcess(p.pid); err == nil && now.start == p.start {
		unix.Kill(p.pid, sig)
	}
}
