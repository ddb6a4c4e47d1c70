package offered

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/internal/foreign"
)

// items are entries by their names; "a=2" is the entry a with other bytes than "a".
func items(names ...string) []Item {
	var list []Item
	for _, n := range names {
		name, _, _ := strings.Cut(n, "=")
		list = append(list, Item{Key: foreign.NewName(name), Raw: []byte(n)})
	}
	return list
}

// numbered are n names.
func numbered(n int) []string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("t%d", i))
	}
	return names
}

// What is said is how the list differs from the first, each time that it changes.
func TestDriftGrows(t *testing.T) {
	var d drift
	for i, step := range []struct {
		before, now []Item
		want        string
	}{
		{items("a", "b", "c"), items("c", "a", "b"), ""},
		{items("a", "b", "c"), items("a=2", "b", "c"), "tools are not as they were last seen: 1 changed (a)"},
		{items("a=2", "b", "c"), items("a=2", "b", "d"), "tools are not as they were last seen: 1 changed (a), 1 added (d), 1 gone (c)"},
		{items("a=2", "b", "d"), items("a=2", "b=2", "d", "e"), "tools are not as they were last seen: 2 changed (a, b), 2 added (d, e), 1 gone (c)"},
		{items("a=2", "b=2", "d", "e"), items("a", "b=2", "c=2", "e"), "tools are not as they were last seen: 2 changed (b, c), 1 added (e)"},
		{items("a", "b=2", "c=2", "e"), items("a", "b", "c"), ""},
		{items("a", "b", "c"), items("a=2", "b=2", "d", "e"), "tools are not as they were last seen: 2 changed (a, b), 2 added (d, e), 1 gone (c)"},
		{nil, nil, ""},
	} {
		if i == 6 {
			d.logged = time.Time{} // a while later
		}
		if got := d.note(Tools, step.before, step.now); got != step.want {
			t.Errorf("step %d: got %q, want %q", i, got, step.want)
		}
	}
	if got, want := d.say(Templates), "resource templates are not as they were last seen: 2 changed (a, b), 2 added (d, e), 1 gone (c)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A server whose list goes to and fro is logged once a minute.
func TestDriftToAndFro(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d drift
		told := 0
		for range 300 { // of a second
			for _, turn := range [][2][]Item{{items("a"), items("b")}, {items("b"), items("a")}} {
				if d.note(Tools, turn[0], turn[1]) != "" {
					told++
				}
			}
			time.Sleep(time.Second)
		}
		// The names are new in the first second; then there are the minutes 1 to 4.
		if told != 1+4 {
			t.Errorf("got %d lines in 300 s, want 5", told)
		}
	})
}

// A server whose list moves on at each start has the difference said, and not all that ever came and went.
func TestDriftOfRestarts(t *testing.T) {
	var d drift
	got := ""
	for i := range 3 {
		got = d.note(Tools, items(fmt.Sprint("t", i)), items(fmt.Sprint("t", i+1)))
	}
	if want := "tools are not as they were last seen: 1 added (t3), 1 gone (t0)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What a server changes without end takes bounded room, in memory and in a line.
func TestDriftIsBounded(t *testing.T) {
	for _, tt := range []struct {
		n    int
		want string
	}{
		{10, "10 added (t0, t1, t2, t3, t4, t5, t6, t7, t8, t9)"},
		{11, "11 added (t0, t1, t2, t3, t4, t5, t6, t7, t8, t9 and 1 more)"},
		{100, "100 added (t0, t1, t2, t3, t4, t5, t6, t7, t8, t9 and 90 more)"},
		{101, "101 added (t0, t1, t2, t3, t4, t5, t6, t7, t8, t9 and 91 more)"},
	} {
		var d drift
		if got := d.note(Tools, nil, items(numbered(tt.n)...)); got != "tools are not as they were last seen: "+tt.want {
			t.Errorf("%d: got %q, want %q", tt.n, got, tt.want)
		}
		if len(d.told[1]) > maxDrift {
			t.Errorf("%d: %d names are kept", tt.n, len(d.told[1]))
		}
		if got := d.note(Tools, nil, items("one more")); (got != "") != (tt.n < maxDrift) {
			t.Errorf("%d, and one more at once: got %q", tt.n, got)
		}
	}
	var d drift
	long := strings.Repeat("n", 100)
	want := "prompts are not as they were last seen: 5 changed (" + long + "0, " + long + "1, " + long + "2 and 2 more)"
	if got := d.note(Prompts, items(long+"0", long+"1", long+"2", long+"3", long+"4"), items(long+"0=2", long+"1=2", long+"2=2", long+"3=2", long+"4=2")); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
