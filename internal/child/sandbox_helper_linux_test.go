package child_test

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/mcp-workbench/workbench/internal/child"
)

// attempts tries all that a sandbox is to allow or deny, and says of each what came of it. Its arguments are where
// things are, NAME=VALUE.
func attempts(args []string) {
	at := make(map[string]string)
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		at[name] = value
	}
	number := func(name string) int {
		n, _ := strconv.Atoi(at[name])
		return n
	}
	read := func(path string) error { _, err := os.ReadFile(path); return err }
	write := func(path string) error { return os.WriteFile(path, []byte("x"), 0o600) }
	outside, work, pid := at["outside"], at["work"], number("pid")
	inOutside := func(name string) string { return filepath.Join(outside, name) }
	inWork := func(name string) string { return filepath.Join(work, name) }
	socket := func(family, kind, protocol int) error {
		fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, protocol)
		if err == nil {
			unix.Close(fd)
		}
		return err
	}
	connect := func(network, address string) error {
		conn, err := net.DialTimeout(network, address, 10*time.Second)
		if err == nil {
			conn.Close()
		}
		return err
	}
	run := func(path string, args ...string) error { return exec.Command(path, args...).Run() }
	errno := func(e unix.Errno) error {
		if e == 0 {
			return nil
		}
		return e
	}
	for _, try := range []struct {
		name string
		do   func() error
	}{
		{"read a file of the system", func() error { return read("/etc/passwd") }},
		{"read a shadow file", func() error { return read("/etc/shadow") }},
		{"read a key in the home", func() error { return read(inOutside(".ssh/id_ed25519")) }},
		{"list the home", func() error { _, err := os.ReadDir(outside); return err }},
		{"read what is allowed", func() error { return read(at["readable"] + "/file") }},
		{"write what may be read", func() error { return write(at["readable"] + "/file") }},
		{"make a file where may be read", func() error { return write(at["readable"] + "/new") }},
		{"write in the workspace", func() error { return write(inWork("file")) }},
		{"make a folder in the workspace", func() error { return os.Mkdir(inWork("folder"), 0o700) }},
		{"rename between folders of the workspace", func() error { return os.Rename(inWork("file"), inWork("folder/file")) }},
		{"make a file outside", func() error { return write(inOutside("new")) }},
		{"write a file outside", func() error { return write(inOutside("file")) }},
		{"truncate a file outside", func() error { return os.Truncate(inOutside("file"), 0) }},
		{"remove a file outside", func() error { return os.Remove(inOutside("file")) }},
		{"make a folder outside", func() error { return os.Mkdir(inOutside("folder"), 0o700) }},
		{"rename a file out", func() error { return os.Rename(inWork("folder/file"), inOutside("moved")) }},
		{"link a file of outside in", func() error { return os.Link(inOutside("file"), inWork("hard")) }},
		{"read by a symbolic link", func() error {
			return errors.Join(os.Symlink(inOutside("file"), inWork("soft")), read(inWork("soft")))
		}},
		{"write by a symbolic link", func() error { return write(inWork("soft")) }},
		{"read by a link in place of a folder", func() error {
			return errors.Join(os.Symlink(outside, inWork("way")), read(inWork("way/file")))
		}},
		{"read by two dots", func() error { return read(work + "/../outside/file") }},
		{"read by a root of its own", func() error { return read("/proc/self/root" + inOutside("file")) }},
		{"swap a folder for a link", func() error { return swap(work, outside) }},
		{"bind outside into the workspace", func() error {
			_ = os.Mkdir(inWork("mount"), 0o700)
			if err := unix.Mount(outside, inWork("mount"), "", unix.MS_BIND, ""); err != nil {
				return err
			}
			return unix.Unmount(inWork("mount"), unix.MNT_DETACH)
		}},
		{"change the root", func() error { return unix.Chroot(work) }},
		{"make a device", func() error { return unix.Mknod(inWork("disk"), unix.S_IFBLK|0o600, 7<<8) }},
		{"read the environment of another", func() error { return read(fmt.Sprintf("/proc/%d/environ", pid)) }},
		{"read the memory of another", func() error { return read(fmt.Sprintf("/proc/%d/mem", pid)) }},
		{"read the descriptors of another", func() error { _, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/0", pid)); return err }},
		{"enter the root of another", func() error { return read(fmt.Sprintf("/proc/%d/root%s", pid, inOutside("file"))) }},
		{"trace another", func() error { return unix.PtraceSeize(pid) }},
		{"read the memory of another by a call", func() error {
			var b [8]byte
			local := []unix.Iovec{{Base: &b[0], Len: 8}}
			_, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: 4096, Len: 8}}, 0)
			return err
		}},
		{"signal another", func() error { return unix.Kill(pid, 0) }},
		{"signal itself", func() error { return unix.Kill(os.Getpid(), 0) }},
		{"take a descriptor of another", func() error {
			fd, err := unix.PidfdOpen(pid, 0)
			if err != nil {
				return err
			}
			_, err = unix.PidfdGetfd(fd, 0, 0)
			return err
		}},
		{"connect to a port", func() error { return connect("tcp", at["tcp"]) }},
		{"connect to another port", func() error { return connect("tcp", at["othertcp"]) }},
		{"send to another port and so connect", func() error {
			return fastOpen(at["othertcp"], func(fd int, to *unix.SockaddrInet4) error { return unix.Sendto(fd, []byte("x"), unix.MSG_FASTOPEN, to) })
		}},
		{"send a message to another port and so connect", func() error {
			return fastOpen(at["othertcp"], func(fd int, to *unix.SockaddrInet4) error {
				return unix.Sendmsg(fd, []byte("x"), nil, to, unix.MSG_FASTOPEN)
			})
		}},
		{"send messages to another port and so connect", func() error { return fastOpen(at["othertcp"], sendMessages) }},
		{"listen on a port", func() error {
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err == nil {
				ln.Close()
			}
			return err
		}},
		{"send a datagram", func() error {
			conn, err := net.Dial("udp", at["tcp"])
			if err == nil {
				_, err = conn.Write([]byte("x"))
			}
			return err
		}},
		{"make a raw socket", func() error { return socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP) }},
		{"make a socket of another TCP", func() error { return socket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP) }},
		{"make a socket of the machine", func() error { return socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0) }},
		{"connect to a socket in a folder", func() error { return connect("unix", at["unix"]) }},
		{"connect to an abstract socket", func() error { return connect("unix", at["abstract"]) }},
		{"make a pair of sockets", func() error { _, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0); return err }},
		{"set up io_uring", func() error {
			var params [120]byte
			_, _, e := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)), 0)
			return errno(e)
		}},
		{"ask for keys of the user", func() error { _, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_USER_KEYRING, true); return err }},
		{"run a program of the system", func() error { return run("/bin/sh", "-c", "exit 0") }},
		{"run a program outside", func() error { return run(inOutside("program")) }},
		{"run a copy in memory that reads outside", func() error { return memory(inOutside("file")) }},
		{"gain rights by a program", func() error {
			flag, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
			if err == nil && flag == 1 {
				err = unix.EPERM
			}
			return err
		}},
		{"use another's descriptor", func() error { _, err := unix.FcntlInt(uintptr(number("leak")), unix.F_GETFD, 0); return err }},
		{"take off the sandbox in a thread", func() error {
			result := make(chan error)
			go func() { result <- read(inOutside("file")) }()
			return <-result
		}},
	} {
		fmt.Printf("%s: %s\n", try.name, outcome(try.do()))
	}
}

// outcome words what came of a try.
func outcome(err error) string {
	switch {
	case err == nil:
		return "done"
	case errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.EAFNOSUPPORT), errors.Is(err, unix.EPROTONOSUPPORT):
		return "not known to the system"
	}
	return "denied (" + err.Error() + ")"
}

// swap opens a file in a folder that becomes a link to outside and back all the while.
func swap(work, outside string) error {
	way, folder, link := filepath.Join(work, "swap"), filepath.Join(work, "real"), filepath.Join(work, "link")
	if err := errors.Join(os.Mkdir(folder, 0o700), os.Symlink(outside, link), os.Rename(folder, way)); err != nil {
		return err
	}
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = unix.Renameat2(unix.AT_FDCWD, way, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE)
		}
	}()
	err := error(unix.EACCES)
	for range 4000 {
		if f, openErr := os.Open(filepath.Join(way, "file")); openErr == nil {
			f.Close()
			err = nil
			break
		}
	}
	close(stop)
	<-done
	return err
}

// memory runs a shell from memory and has it read a file.
func memory(file string) error {
	fd, err := unix.MemfdCreate("program", 0)
	if err != nil {
		return err
	}
	data, err := os.ReadFile("/bin/cat")
	if err != nil {
		return err
	}
	if _, err := unix.Write(fd, data); err != nil {
		return err
	}
	cmd := exec.Command(fmt.Sprintf("/proc/self/fd/%d", fd), file)
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	out, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(line))
	}
	return nil
}

// fastOpen has a socket connect by what is sent first (TCP Fast Open, RFC 7413).
func fastOpen(address string, send func(fd int, to *unix.SockaddrInet4) error) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return send(fd, &unix.SockaddrInet4{Addr: at.Addr().As4(), Port: int(at.Port())})
}

// sendMessages is sendmmsg(2) for one message.
func sendMessages(fd int, to *unix.SockaddrInet4) error {
	var port [2]byte
	binary.BigEndian.PutUint16(port[:], uint16(to.Port))
	name := unix.RawSockaddrInet4{Family: unix.AF_INET, Port: binary.NativeEndian.Uint16(port[:]), Addr: to.Addr}
	text := []byte("x")
	part := unix.Iovec{Base: &text[0]}
	part.SetLen(len(text))
	message := struct {
		header unix.Msghdr
		sent   uint32
	}{header: unix.Msghdr{Name: (*byte)(unsafe.Pointer(&name)), Namelen: unix.SizeofSockaddrInet4, Iov: &part, Iovlen: 1}}
	_, _, e := unix.Syscall6(unix.SYS_SENDMMSG, uintptr(fd), uintptr(unsafe.Pointer(&message)), 1, unix.MSG_FASTOPEN, 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

// orphanage is the parent of orphans, as the first process of a container is, and of a child of its own, and says how many
// dead ones it has when the orphans were reaped and the child was waited for.
func orphanage() {
	self := os.Getpid()
	dead := func() int {
		lists, _ := filepath.Glob("/proc/self/task/*/children") // each thread has those that it started
		n := 0
		for _, list := range lists {
			pids, _ := os.ReadFile(list)
			for _, pid := range strings.Fields(string(pids)) {
				line, _ := os.ReadFile("/proc/" + pid + "/stat")
				if strings.Contains(string(line), ") Z ") {
					n++
				}
			}
		}
		return n
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		fmt.Print(err)
		return
	}
	gone := exec.Command("/bin/sh", "-c", "(exit 0) & sleep 1 & exit 0")
	gone.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // as guards and what they start
	own := exec.Command("/bin/sh", "-c", "exit 0")
	if err := errors.Join(gone.Run(), own.Start()); err != nil {
		fmt.Print(err)
		return
	}
	for dead() < 3 {
		time.Sleep(time.Millisecond)
	}
	child.ReapAdopted(self, 0)
	if err := own.Wait(); err != nil {
		fmt.Print(err)
	}
	fmt.Print(dead())
}
