package ring_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/ring"
)

func TestTheOldestGiveWay(t *testing.T) {
	for name, test := range map[string]struct {
		most, limit, size, add int
		want                   []int
	}{
		"none":                   {3, 100, 1, 0, nil},
		"there is room":          {3, 100, 1, 2, []int{1, 2}},
		"too many":               {3, 100, 1, 8, []int{6, 7, 8}},
		"too many after it grew": {40, 1000, 1, 90, nil},
		"too many bytes":         {100, 100, 30, 8, []int{6, 7, 8}},
		"one is larger":          {100, 100, 101, 3, nil},
	} {
		t.Run(name, func(t *testing.T) {
			charged := account.New(1<<20, nil)
			r := ring.New[int](test.most, test.limit, charged)
			for i := range test.add {
				r.Add(i+1, test.size)
			}
			if test.want == nil && test.add > test.most {
				for i := range test.most {
					test.want = append(test.want, test.add-test.most+i+1)
				}
			}
			if got := slices.Collect(r.All()); !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
			want := len(test.want) * test.size
			if r.Bytes() != want || charged.Kept() != int64(want) {
				t.Errorf("got %d bytes, and %d charged, want %d", r.Bytes(), charged.Kept(), want)
			}
		})
	}
}

// What is charged is at the cost of the ring itself, and of nothing that is there already.
func TestAFullAccount(t *testing.T) {
	charged := account.New(100, nil)
	charged.Keep(60)
	r := ring.New[string](10, 1000, charged)
	for _, thing := range []string{"a", "b", "c"} {
		r.Add(thing, 20)
	}
	if got := slices.Collect(r.All()); !slices.Equal(got, []string{"b", "c"}) {
		t.Errorf("got %v, want the two for which there is room", got)
	}
	r.Add("large", 50)
	if got := slices.Collect(r.All()); got != nil || charged.Kept() != 60 {
		t.Errorf("got %v and %d charged, want nothing of what finds no room", got, charged.Kept())
	}
}

func TestAfter(t *testing.T) {
	r := ring.New[int](3, 100, nil)
	for i := range 5 {
		r.Add(i+1, 1)
	}
	for name, test := range map[string]struct {
		after  uint64
		want   []int
		missed uint64
	}{
		"the first":  {0, []int{3, 4, 5}, 2},
		"in between": {4, []int{5}, 0},
		"the last":   {5, nil, 0},
		"none yet":   {99, nil, 0},
	} {
		things, last, missed := r.After(test.after)
		if !slices.Equal(things, test.want) || last != 5 || missed != test.missed {
			t.Errorf("%s: got %v, the last %d, %d missed, want %v, 5, %d", name, things, last, missed, test.want, test.missed)
		}
	}
}

// Who follows gets each thing once, in order, or learns how many are missed; who adds waits for nobody.
func TestFollowing(t *testing.T) {
	const all = 5000
	r := ring.New[int](100, 1<<20, nil)
	var work sync.WaitGroup
	for range 3 {
		work.Go(func() {
			seen := uint64(0)
			for last := uint64(0); last < all; {
				<-r.Changed(last)
				var things []int
				var missed uint64
				things, last, missed = r.After(last)
				seen += missed
				for _, thing := range things {
					if seen++; uint64(thing) != seen {
						t.Errorf("got %d in the place of %d", thing, seen)
						return
					}
				}
			}
			if seen != all {
				t.Errorf("got %d, want %d", seen, all)
			}
		})
	}
	for i := range all {
		r.Add(i+1, 1)
	}
	work.Wait()
}
