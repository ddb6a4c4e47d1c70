package alike

import (
	"bytes"
	"fmt"
	"runtime"
	"sync"
	"testing"
)

func long(i int) []byte { return fmt.Appendf(nil, "%0*d", 2*least, i) }

func TestOf(t *testing.T) {
	var p Pool
	a, b, other := p.Of(long(1)), p.Of(long(1)), p.Of(long(2))
	switch {
	case &a[0] != &b[0]:
		t.Error("equal texts stand in memory twice")
	case !bytes.Equal(b, long(1)) || !bytes.Equal(other, long(2)):
		t.Errorf("Of gave %s and %s", b, other)
	}
	if c := append(b, "more"...); !bytes.Equal(a, long(1)) || !bytes.HasPrefix(c, a) {
		t.Error("what is appended to a text changed it for others")
	}
	if roomy := p.Of(append(make([]byte, 0, 100*least), long(3)...)); cap(roomy) > 4*least || !bytes.Equal(roomy, long(3)) {
		t.Errorf("a text of %d bytes keeps %d", len(roomy), cap(roomy))
	}
	for _, short := range [][]byte{nil, {}, []byte("short")} {
		if got := p.Of(short); !bytes.Equal(got, short) {
			t.Errorf("Of(%q) = %q", short, got)
		}
	}
	if got := (*Pool)(nil).Of(long(4)); !bytes.Equal(got, long(4)) {
		t.Errorf("without a pool Of gave %s", got)
	}
	runtime.KeepAlive(a)
}

// What nobody has any more is in no memory, and the notes of it do not pile up.
func TestOfForgets(t *testing.T) {
	var p Pool
	for i := range 100 * fewest {
		p.Of(long(i))
		if i%fewest == 0 {
			runtime.GC()
		}
	}
	if n := len(p.texts); n > 4*fewest {
		t.Errorf("%d texts are noted that nobody has", n)
	}
}

func TestOfByMany(t *testing.T) {
	var p Pool
	var all sync.WaitGroup
	got := make([][]byte, 8)
	for g := range got {
		all.Go(func() {
			for i := range 100 {
				if text := p.Of(long(i)); !bytes.Equal(text, long(i)) {
					t.Errorf("Of gave %s", text)
				}
			}
			got[g] = p.Of(long(1000))
		})
	}
	all.Wait()
	for _, text := range got {
		if &text[0] != &got[0][0] {
			t.Error("equal texts stand in memory twice")
		}
	}
}
