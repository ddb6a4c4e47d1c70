package offered

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/foreign"
)

// drift is how the definitions of one list have changed since they were first known, whether in this run or another.
type drift struct {
	changed, added, gone names
	logged               time.Time
}

// names are different names, of which a bounded number is known.
type names struct {
	known []foreign.Name
	more  bool
}

// maxDrift bounds the names of one kind of change.
const maxDrift = 100

// add notes a name and reports whether it is new.
func (n *names) add(name foreign.Name) bool {
	switch {
	case slices.Contains(n.known, name):
		return false
	case len(n.known) == maxDrift:
		n.more = true
		return false
	}
	n.known = append(n.known, name)
	return true
}

// relog is how long it is at least until a change of the same names is logged again.
const relog = time.Minute

// note compares a list with the one before it; it returns what the log is to say of the changes, "" for nothing.
func (d *drift) note(k Kind, before, now []Item) string {
	old := make(map[foreign.Name][]byte, len(before))
	for _, it := range before {
		old[it.Key] = it.Raw
	}
	differs, fresh := false, false
	to := func(n *names, name foreign.Name) {
		differs = true
		fresh = n.add(name) || fresh
	}
	for _, it := range now {
		raw, had := old[it.Key]
		switch {
		case !had:
			to(&d.added, it.Key)
		case !bytes.Equal(raw, it.Raw):
			to(&d.changed, it.Key)
		}
		delete(old, it.Key)
	}
	for _, it := range before {
		if _, missed := old[it.Key]; missed {
			to(&d.gone, it.Key)
		}
	}
	if !fresh && (!differs || time.Since(d.logged) < relog) {
		return ""
	}
	d.logged = time.Now()
	return d.say(k)
}

// say gives what has changed in words; "" if nothing has.
func (d *drift) say(k Kind) string {
	var parts []string
	for _, p := range []struct {
		names names
		what  string
	}{{d.changed, "changed"}, {d.added, "added"}, {d.gone, "gone"}} {
		if n := len(p.names.known); n > 0 {
			count := fmt.Sprint(n)
			if p.names.more {
				count = "over " + count
			}
			parts = append(parts, fmt.Sprintf("%s %s (%s)", count, p.what, few(p.names.known)))
		}
	}
	if parts == nil {
		return ""
	}
	return k.noun() + " are not as they were last seen: " + strings.Join(parts, ", ")
}

// few lists names, not more than fit a line, however long a server has chosen them.
func few(names []foreign.Name) string {
	const most, room = 10, 300
	var list strings.Builder
	for i, name := range names {
		if i == most || list.Len() > room {
			fmt.Fprintf(&list, " and %d more", len(names)-i)
			break
		}
		if i > 0 {
			list.WriteString(", ")
		}
		list.WriteString(name.String())
	}
	return list.String()
}
