package offered

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/foreign"
)

// drift is how the definitions of one list differ from those that were first known, whether in this run or another.
type drift struct {
	first  []known // the list before its first change
	since  changes
	told   [3]names // what the log knows of each kind of change
	logged time.Time
}

// known is what is remembered of a definition.
type known struct {
	name   foreign.Name
	digest [sha256.Size]byte
}

// changes are the names that have changed, that were added and that are gone.
type changes [3][]foreign.Name

func (c *changes) none() bool { return len(c[0])+len(c[1])+len(c[2]) == 0 }

// digests gives what is remembered of a list.
func digests(list []Item) []known {
	all := make([]known, len(list))
	for i, it := range list {
		all[i] = known{it.Key, sha256.Sum256(it.Raw)}
	}
	return all
}

// compare gives how a list differs from an earlier one.
func compare(before, now []known) (c changes) {
	old := make(map[foreign.Name]known, len(before))
	for _, k := range before {
		old[k.name] = k
	}
	seen := make(map[foreign.Name]bool, len(now))
	for _, k := range now {
		was, had := old[k.name]
		switch {
		case seen[k.name]:
		case !had:
			c[1] = append(c[1], k.name)
		case was != k:
			c[0] = append(c[0], k.name)
		}
		seen[k.name] = true
	}
	for _, k := range before {
		if !seen[k.name] {
			c[2] = append(c[2], k.name)
			seen[k.name] = true
		}
	}
	return c
}

// names are different names, of which a bounded number is known.
type names []foreign.Name

// maxDrift bounds the names of one kind of change that the log knows.
const maxDrift = 100

// add notes a name and reports whether it is new.
func (n *names) add(name foreign.Name) bool {
	if slices.Contains(*n, name) || len(*n) == maxDrift {
		return false
	}
	*n = append(*n, name)
	return true
}

// relog is how long it is at least until a change of the same names is logged again.
const relog = time.Minute

// note compares a list with the one before it and with the first; it returns what the log is to say of the changes, ""
// for nothing.
func (d *drift) note(k Kind, before, now []Item) string {
	last, list := digests(before), digests(now)
	step := compare(last, list)
	if step.none() {
		return ""
	}
	if d.first == nil {
		d.first = last
	}
	d.since = compare(d.first, list)
	fresh := false
	for i, all := range step {
		for _, name := range all {
			fresh = d.told[i].add(name) || fresh
		}
	}
	if d.since.none() || !fresh && time.Since(d.logged) < relog {
		return ""
	}
	d.logged = time.Now()
	return d.say(k)
}

// say gives what has changed in words; "" if nothing has.
func (d *drift) say(k Kind) string {
	var parts []string
	for i, what := range []string{"changed", "added", "gone"} {
		if all := d.since[i]; len(all) > 0 {
			parts = append(parts, fmt.Sprintf("%d %s (%s)", len(all), what, few(all)))
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
