//go:build unix

package child

// process is one line of the system's list of processes.
type process struct {
	pid, ppid, pgid, sid int
	start                uint64 // in a unit of the system's; tells a process from another that had its number before
	dead                 bool   // waits to be reaped
}

// members returns the processes of the tree that are alive: the process itself until it is reaped, and all that
// descend from a member, carry the tree's mark, are in its session or group, or were seen in it before.
// What cannot be listed is taken to be empty, but for the process itself.
func (t *tree) members() []process {
	all, err := processes()
	if err != nil {
		all = nil
	}
	in := make(map[int]bool, 8)
	t.mu.Lock()
	reaped := t.reaped
	t.mu.Unlock()
	in[t.pid] = !reaped
	ids := t.ownsIDs(all, reaped)
	for _, p := range all {
		switch {
		case p.pid == t.pid:
		case ids && (p.sid == t.pid || p.pgid == t.pid):
			in[p.pid] = true
		case t.seen[p.pid] == p.start && p.start != 0:
			in[p.pid] = true
		case t.mark != 0 && marked(p.pid, t.mark):
			in[p.pid] = true
		}
	}
	var found []process
	for more := true; more; {
		more = false
		for _, p := range all {
			if !in[p.pid] && in[p.ppid] && p.pid != t.pid {
				in[p.pid], more = true, true
			}
		}
	}
	for _, p := range all {
		if in[p.pid] && (!p.dead || p.pid == t.pid) {
			t.seen[p.pid] = p.start
			found = append(found, p)
		}
	}
	if all == nil && !reaped {
		found = append(found, process{pid: t.pid, pgid: t.pid, sid: t.pid})
	}
	return found
}

// ownsIDs reports whether the tree's number still means its session and group. The system gives a number to a new
// process only after the session and the group of that number are gone.
func (t *tree) ownsIDs(all []process, reaped bool) bool {
	if !reaped {
		return true
	}
	for _, p := range all {
		if p.pid == t.pid {
			return false
		}
	}
	return true
}
