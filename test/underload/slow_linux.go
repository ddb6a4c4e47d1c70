package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// slowSyncs makes the words that, put in front of a command, slow each sync of that command and of all that it starts.
// A filter of system calls (seccomp_unotify(2)) tells this process of each sync, which lets it go on after the delay.
func slowSyncs(delay time.Duration) (prefix []string, end func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "underload")
	if err != nil {
		return nil, nil, err
	}
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: dir + "/sock", Net: "unix"})
	if err != nil {
		return nil, nil, err
	}
	go func() {
		defer os.RemoveAll(dir)
		conn, err := ln.AcceptUnix()
		if err != nil {
			return
		}
		defer conn.Close()
		listener, err := receive(conn)
		if err != nil {
			fmt.Fprintln(os.Stderr, "underload: no syncs are slowed:", err)
			return
		}
		_, _ = conn.Write([]byte{1}) // the filter is watched
		answer(listener, delay)
	}()
	return []string{self, slowed, dir + "/sock"}, func() { _ = ln.Close() }, nil
}

// becomeSlowed puts the filter on this process, hands its listener to the socket, and becomes the command.
func becomeSlowed(args []string) error {
	path, err := exec.LookPath(args[1])
	if err != nil {
		return err
	}
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: args[0], Net: "unix"})
	if err != nil {
		return err
	}
	runtime.LockOSThread() // the filter is this thread's, and becomes the command's
	if os.Geteuid() != 0 {
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return err
		}
	}
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // the number of the system call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_FSYNC, Jt: 1},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_FDATASYNC, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	// A sync that is told of is not begun anew by each signal that a Go program sends itself.
	flags := unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
	listener, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, uintptr(flags), uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	if _, _, err := conn.WriteMsgUnix([]byte{1}, unix.UnixRights(int(listener)), nil); err != nil {
		return err
	}
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		return err
	}
	return syscall.Exec(path, args[1:], os.Environ())
}

// receive takes the listener of a filter.
func receive(conn *net.UnixConn) (int, error) {
	control := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := conn.ReadMsgUnix(make([]byte, 1), control)
	if err != nil {
		return 0, err
	}
	messages, err := unix.ParseSocketControlMessage(control[:n])
	if err != nil || len(messages) != 1 {
		return 0, fmt.Errorf("got no listener: %w", err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return 0, fmt.Errorf("got no listener: %w", err)
	}
	return fds[0], nil
}

// notification and response are struct seccomp_notif and struct seccomp_notif_resp.
type notification struct {
	id         uint64
	pid, flags uint32
	call       [64]byte
}

type response struct {
	id    uint64
	value int64
	err   int32
	flags uint32
}

// answer lets each system call go on after the delay, until nothing is left that could make one.
func answer(listener int, delay time.Duration) {
	defer unix.Close(listener)
	for {
		wait := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(wait, -1); err == unix.EINTR {
			continue
		} else if err != nil || wait[0].Revents&unix.POLLIN == 0 {
			return
		}
		var n notification
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&n)))
		if errno != 0 { // who made it was killed, or a signal came
			continue
		}
		time.AfterFunc(delay, func() {
			r := response{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
			// It fails if the process has gone meanwhile.
			_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&r)))
		})
	}
}
