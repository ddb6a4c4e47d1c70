package rate_test

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/internal/rate"
)

// As many as the limit says pass at once, each later one when its share of the minute is over, and one does not cost
// another.
func TestLimit(t *testing.T) {
	for _, perMinute := range []int{1, 7, 60, 1_000_000} {
		synctest.Test(t, func(t *testing.T) {
			var l rate.Limit
			for range 100 {
				if l.Take("ada") != 0 {
					t.Fatal("nothing is bounded before a limit is set")
				}
			}
			l.Set(perMinute)
			share := time.Minute / time.Duration(perMinute)
			for i := range perMinute {
				if wait := l.Take("ada"); wait != 0 {
					t.Fatalf("%d a minute: number %d has to wait %v", perMinute, i, wait)
				}
			}
			for range 3 {
				wait := l.Take("ada")
				if wait <= 0 || wait > share {
					t.Fatalf("%d a minute: one too many has to wait %v, want up to %v", perMinute, wait, share)
				}
				if l.Take("bob") != 0 && perMinute > 3 {
					t.Error("bob waits for ada")
				}
				time.Sleep(wait)
				if again := l.Take("ada"); again != 0 {
					t.Errorf("%d a minute: after %v there are %v more to wait", perMinute, wait, again)
				}
			}
			l.Set(0)
			if l.Take("ada") != 0 {
				t.Error("a limit that was taken away holds")
			}
		})
	}
}

// Those who have rested are forgotten, however many there were.
func TestLimitForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l rate.Limit
		l.Set(60)
		for i := range 100_000 {
			l.Take(strconv.Itoa(i))
			time.Sleep(time.Second)
		}
		if n := l.Kept(); n > 200 {
			t.Errorf("%d are kept, of whom one has not rested", n)
		}
	})
}
