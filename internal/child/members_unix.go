//go:build unix

package child

import (
	"os"
	"sync"
)

// process is one line of the system's list of processes.
type process struct {
	pid, ppid, pgid, sid int
	start                uint64 // in a unit of the system's; tells a process from another that had its number before
	mark                 uint64 // see setMark
	dead                 bool   // waits to be reaped
}

// members returns the processes of the tree that are there. Where there are none, exited is closed. Where processes
// cannot be listed, it is the process itself that is known.
func (t *tree) members() []process {
	held := t.isHeld() // before listing: it may end meanwhile, but not begin
	all, err := t.list.processes()
	if err != nil {
		all = nil
	}
	return t.pick(all, held)
}

// pick returns those of all that are in the tree, and notes that they were seen: the process itself until it is reaped,
// and all living ones that descend from a member, carry the tree's mark, are in its session, process group or control
// group, or were seen in it before. held is what isHeld said before all were listed.
func (t *tree) pick(all []process, held bool) []process {
	in, grouped := map[int]bool{}, map[int]bool{}
	t.group.members(grouped)
	started := t.pid > 1 // or 0 would mean what belongs to the kernel
	ids := started && t.ownsIDs(all)
	for _, p := range all {
		in[p.pid] = started && p.pid == t.pid && (held || p.start == t.start) ||
			ids && (p.sid == t.pid || p.pgid == t.pid) ||
			t.mark != 0 && p.mark == t.mark ||
			p.start != 0 && p.start == t.seen[p.pid] ||
			grouped[p.pid]
	}
	addDescendants(all, in)
	var found []process
	for _, p := range all {
		if in[p.pid] && p.pid != os.Getpid() && (!p.dead || p.pid == t.pid && held) {
			t.seen[p.pid] = p.start
			found = append(found, p)
			held = held && p.pid != t.pid
		}
	}
	// One that was being reaped while all were listed may be in no list, and its end not be noted yet.
	if held && t.isHeld() {
		found = append(found, process{pid: t.pid, pgid: t.pid, sid: t.pid, start: t.start})
	}
	return found
}

func (t *tree) isHeld() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.held
}

// ownsIDs reports whether the tree's number still means its session and group. The system gives a number to a new
// process only after the session and the group of that number are gone.
func (t *tree) ownsIDs(all []process) bool {
	for _, p := range all {
		if p.pid == t.pid {
			return p.start == t.start
		}
	}
	return true
}

// addDescendants adds to the set all processes that descend from one in it.
func addDescendants(all []process, in map[int]bool) {
	for more := true; more; {
		more = false
		for _, p := range all {
			if in[p.ppid] && !in[p.pid] {
				in[p.pid], more = true, true
			}
		}
	}
}

// lister lists processes for many trees at once: those that ask while a list is being made share the next one. The zero
// value is ready.
type lister struct {
	making sync.Mutex

	mu   sync.Mutex
	next *listing // not begun, so that it will show what was there when somebody asked for it
}

type listing struct {
	once sync.Once
	all  []process
	err  error
}

// processes returns a list that was begun after the call. It is shared: nobody may change it.
func (l *lister) processes() ([]process, error) {
	l.mu.Lock()
	if l.next == nil {
		l.next = &listing{}
	}
	list := l.next
	l.mu.Unlock()
	list.once.Do(func() {
		l.making.Lock()
		defer l.making.Unlock()
		l.mu.Lock()
		l.next = nil
		l.mu.Unlock()
		list.all, list.err = processes()
	})
	return list.all, list.err
}
