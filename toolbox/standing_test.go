package toolbox

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// Who waits for a start hears that it failed, also if the server is started again before who waits has got a turn.
func TestSettleMissesNoFailure(t *testing.T) {
	for range 100 { // in which the one that waits is late at least once
		synctest.Test(t, func(t *testing.T) {
			p := newStanding(Status{State: Starting}, "", func(*Status) {})
			settled := false
			go func() { p.settle(t.Context()); settled = true }()
			synctest.Wait()
			p.noteTried(time.Now())
			p.become(Backoff, errors.New("it failed"), time.Now(), nil)
			p.become(Starting, errors.New("it failed"), time.Time{}, nil)
			synctest.Wait()
			if !settled {
				t.Fatal("the failure was missed")
			}
		})
	}
}
