package child

import (
	"fmt"
	"math"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	socketType   = unix.SOCK_STREAM | unix.SOCK_CLOEXEC
	receiveFlags = unix.MSG_CMSG_CLOEXEC
)

func closedOnExec(make func() ([2]int, error)) ([2]int, error) { return make() }

// veryFile returns the file to run for the path of a program. If that is this program it is the very file that runs
// now, whatever was installed over it since: both ends of what they say to each other must be of one version.
func veryFile(arg string) string {
	if self, err := os.Executable(); err == nil && self == arg {
		return "/proc/self/exe"
	}
	return arg
}

// adopt makes us the parent of all orphans below us, and reaps them and our children as they die until the function
// that it returns is called.
func (g *guard) adopt() func() {
	unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	os.WriteFile("/proc/self/comm", []byte("child-guard"), 0) // or it would be named "exe"
	Conceal()

	died := make(chan os.Signal, 1)
	signal.Notify(died, unix.SIGCHLD)
	over := make(chan struct{})
	go func() {
		defer close(over)
		for range died {
			g.reapAll()
		}
	}()
	return func() {
		signal.Stop(died)
		close(died)
		<-over
	}
}

// dispensable has a process, and what that starts, be ended before us and our owner where memory runs short (proc(5),
// oom_score_adj), by as much as browsers have for their pages, unless it has more already.
func dispensable(pid int) {
	const first = 300
	path := fmt.Sprintf("/proc/%d/oom_score_adj", pid)
	if now, err := os.ReadFile(path); err == nil {
		if n, err := strconv.Atoi(strings.TrimSpace(string(now))); err == nil && n < first {
			os.WriteFile(path, strconv.AppendInt(nil, first, 10), 0)
		}
	}
}

// startAwaiting has nothing to do: SIGCHLD tells of all children.
func (g *guard) startAwaiting(*tree) {}

// reapAll reaps whoever is dead. A child of ours is reaped by its tree.
func (g *guard) reapAll() {
	for pid := deadChild(); pid != 0; pid = deadChild() {
		t := g.treeOf(pid)
		if t == nil {
			unix.Wait4(pid, nil, unix.WNOHANG, nil)
			continue
		}
		t.reap()
	}
}

// reapAdopted reaps the dead children of this process, self, but for its guard, which run waits for: those of a guard that
// was killed, and the guard of another program of ours in the same container that was. Nobody else waits for them. What
// is in our own process group was started by this process itself and is waited for where that was done.
func reapAdopted(self, guard int) {
	all, _ := processes() // where none can be listed they stay
	own := unix.Getpgrp()
	for _, p := range all {
		if p.dead && p.ppid == self && p.pid != guard && p.pgid != own {
			unix.Wait4(p.pid, nil, unix.WNOHANG, nil)
		}
	}
}

// treeOf returns the tree of a dead child, nil if it is an orphan that we adopted or one that begin reaps itself.
func (g *guard) treeOf(pid int) *tree {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, t := range g.trees {
		if t.pid == pid && t.isHeld() {
			return t
		}
	}
	return nil
}

// childInfo begins like the system's siginfo_t when it tells of a child: the second part is aligned for a pointer.
type childInfo struct {
	signo, errno, code int32
	child              struct {
		_   [0]uintptr
		pid int32
	}
	_ [128]byte
}

// deadChild returns the number of a child that is dead, still to be reaped, 0 if there is none.
func deadChild() int {
	var info childInfo
	for {
		err := unix.Waitid(unix.P_ALL, 0, (*unix.Siginfo)(unsafe.Pointer(&info)), unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return int(info.child.pid)
		}
	}
}

// sweep kills what is below us and cannot belong to a tree that is there: orphans that gave up their mark, as another
// guard does, and were born before each of those trees. Where processes of several servers give up their marks, it
// cannot be told which is whose, and they end with the last server that they may be of.
func (g *guard) sweep() {
	end, again := time.Now().Add(killMax), 3 // where the parents of others are hidden no list is whole
	for pause := time.Millisecond; time.Now().Before(end); pause = min(2*pause, 50*time.Millisecond) {
		all, err := g.list.processes()
		if err != nil {
			return
		}
		left := g.strays(all)
		if again--; len(left) == 0 && (again <= 0 || whole(all)) {
			return
		}
		for _, p := range left {
			p.signal(unix.SIGKILL)
		}
		time.Sleep(pause)
	}
}

// whole reports whether a list has the parents of all that are in it. Of one that ended while the others were listed, a
// child is ours by now and does not look like it.
func whole(all []process) bool {
	there := map[int]bool{0: true} // of another namespace
	for _, p := range all {
		there[p.pid] = true
	}
	return !slices.ContainsFunc(all, func(p process) bool { return !there[p.ppid] })
}

// strays returns those of all that sweep kills.
func (g *guard) strays(all []process) (found []process) {
	g.mu.Lock() // no tree begins meanwhile
	defer g.mu.Unlock()
	oldest := uint64(math.MaxUint64)
	for _, t := range g.trees {
		oldest = min(oldest, t.start)
	}
	in := map[int]bool{}
	for _, p := range all {
		in[p.pid] = p.ppid == os.Getpid() && p.start < oldest
	}
	addDescendants(all, in)
	for _, p := range all {
		if in[p.pid] && !p.dead {
			found = append(found, p)
		}
	}
	return found
}
