//go:build unix

package child

import (
	"testing"
	"testing/synctest"
	"time"
)

// A guard that was asked for many starts at once has the time of one for each, and one that hangs is killed.
func TestTimeOfStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		killed := false
		s := starts{kill: func() { killed = true }}
		for range 2 { // the second time with the timer of the first
			for range 5 {
				s.ask()
			}
			for range 5 {
				time.Sleep(startMax - time.Nanosecond)
				s.answer()
			}
			time.Sleep(time.Hour)
			if killed {
				t.Fatal("the guard is killed although it answered each start in time")
			}
		}
		s.ask()
		s.ask()
		time.Sleep(startMax - time.Nanosecond)
		s.answer()
		time.Sleep(startMax)
		synctest.Wait()
		if !killed {
			t.Error("a guard that does not answer is not killed")
		}
	})
}
