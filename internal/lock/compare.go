package lock

import (
	"slices"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// What is how an item differs from what was agreed to.
type What string

// How items differ.
const (
	Changed What = "changed"
	Added   What = "added"
	Removed What = "removed"
	Renamed What = "renamed" // it is new, and says what one says that is gone
)

// Change is an item that is not as it was agreed to.
type Change struct {
	What What
	Was  *Item // nil for one that was added
	Now  *Item // nil for one that was removed
}

// Item gives the item that the change is about.
func (c *Change) Item() *Item {
	if c.Now != nil {
		return c.Now
	}
	return c.Was
}

// Compare says how the items of a server differ from those that were agreed to, in the order of a file.
func Compare(locked, now []Item) []Change {
	find := func(items []Item) map[itemID]*Item {
		found := make(map[itemID]*Item, len(items))
		for i := range items {
			found[items[i].id()] = &items[i]
		}
		return found
	}
	was, is := find(locked), find(now)
	var changes []Change
	gone := make(map[string]*Item) // by what they say besides their names
	for i := range locked {
		if is[locked[i].id()] == nil {
			gone[string(locked[i].nameless())] = &locked[i]
		}
	}
	renamed := make(map[itemID]bool)
	for i := range now {
		it := &now[i]
		switch before := was[it.id()]; {
		case before == nil:
			c := Change{Added, nil, it}
			if from := gone[string(it.nameless())]; from != nil && from.Kind.naming() != "" {
				c.What, c.Was = Renamed, from
				renamed[from.id()] = true
			}
			changes = append(changes, c)
		case !before.Same(it):
			changes = append(changes, Change{Changed, before, it})
		}
	}
	for i := range locked {
		if id := locked[i].id(); is[id] == nil && !renamed[id] {
			changes = append(changes, Change{Removed, &locked[i], nil})
		}
	}
	slices.SortStableFunc(changes, func(a, b Change) int { return compareItems(*a.Item(), *b.Item()) })
	return changes
}

// itemID tells the items of a server apart.
type itemID struct {
	kind Kind
	name foreign.Name
}

func (it *Item) id() itemID { return itemID{it.Kind, it.Name} }

// nameless gives the text of an item without its name.
func (it *Item) nameless() []byte {
	naming := it.Kind.naming()
	if naming == "" {
		return append([]byte(it.Kind), it.Text...)
	}
	out := []byte(it.Kind + "{")
	for _, m := range members(it.Text, wire.Whole(it.Text)) {
		if !m.is(naming) {
			out = wire.AppendMember(out, m.key, it.Text[m.val.Start:m.val.End])
		}
	}
	return out
}

// member gives a member of an object in canonical form.
func (it *Item) member(name string) []byte {
	if len(it.Text) == 0 || it.Text[0] != '{' {
		return nil
	}
	for _, m := range members(it.Text, wire.Whole(it.Text)) {
		if m.is(name) {
			return it.Text[m.val.Start:m.val.End]
		}
	}
	return nil
}

// Loosens reports whether a tool said that it only reads, and does not say so any more.
func (c *Change) Loosens() bool {
	return c.What == Changed && c.Was.Kind == Tool && c.Was.readsOnly() && !c.Now.readsOnly()
}

func (it *Item) readsOnly() bool {
	annotations := it.member("annotations")
	if annotations == nil || annotations[0] != '{' {
		return false
	}
	return string(wire.Get(annotations, wire.Whole(annotations), "readOnlyHint")) == "true"
}
