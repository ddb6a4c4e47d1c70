package account_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/internal/account"
)

func TestChargeIsRefusedOverTheLimit(t *testing.T) {
	user := account.New(150, nil)
	one, other := account.New(100, user), account.New(100, user)
	for _, step := range []struct {
		to   *account.Account
		n    int
		want bool
	}{{one, 60, true}, {one, 41, false}, {one, 40, true}, {other, 51, false}, {other, 50, true}} {
		if got := step.to.Charge(step.n); got != step.want {
			t.Errorf("charge %d: got %v, want %v", step.n, got, step.want)
		}
	}
	if one.Kept() != 100 || other.Kept() != 50 || user.Kept() != 150 {
		t.Errorf("got %d, %d and %d above, want 100, 50 and 150", one.Kept(), other.Kept(), user.Kept())
	}
	if one.Refused() != 1 || other.Refused() != 1 || user.Refused() != 1 {
		t.Errorf("got %d, %d and %d refusals, want one each", one.Refused(), other.Refused(), user.Refused())
	}
	one.Credit(100)
	if !other.Charge(50) {
		t.Error("what one has given back is not there for the other")
	}
}

func TestNoAccountAllowsEverything(t *testing.T) {
	var none *account.Account
	if !none.Charge(1<<40) || !none.Await(1<<40, nil) || none.Kept() != 0 || none.Refused() != 0 || none.Held() {
		t.Error("a nil account is not without limits")
	}
	none.Credit(1)
}

// What is larger than the account passes when the account is empty, and what is smaller does not overtake it.
func TestAwaitGoesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := account.New(100, nil)
		a.Keep(120)
		var mu sync.Mutex
		var order []int
		var work sync.WaitGroup
		for _, n := range []int{300, 1, 50} {
			work.Go(func() {
				if !a.Await(n, nil) {
					t.Errorf("%d bytes were refused", n)
				}
				mu.Lock()
				order = append(order, n)
				mu.Unlock()
				time.Sleep(time.Second)
				a.Credit(n)
			})
			synctest.Wait()
		}
		if order != nil || !a.Held() {
			t.Fatalf("got %v through a full account", order)
		}
		a.Credit(119)
		synctest.Wait()
		if order != nil {
			t.Fatalf("got %v beside a byte that is still there", order)
		}
		if a.TryAwait(1) {
			t.Error("who came last was let in before those who wait")
		}
		a.Credit(1)
		work.Wait()
		if len(order) != 3 || order[0] != 300 || order[1] != 1 {
			t.Errorf("got the order %v, want 300, 1, 50", order)
		}
		if a.Kept() != 0 || a.Held() {
			t.Errorf("got %d bytes left", a.Kept())
		}
	})
}

func TestAwaitEndsWhenItIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := account.New(10, nil)
		a.Keep(10)
		over := make(chan struct{})
		var work sync.WaitGroup
		for range 3 {
			work.Go(func() {
				if a.Await(1, over) {
					t.Error("a full account took more")
				}
			})
		}
		synctest.Wait()
		close(over)
		work.Wait()
		if a.Kept() != 10 || a.Held() {
			t.Errorf("got %d bytes, want the 10 that were there", a.Kept())
		}
	})
}

// Nothing is lost or left when many charge, wait and credit at once.
func TestManyAtOnce(t *testing.T) {
	user := account.New(1<<20, nil)
	a := account.New(1000, user)
	over := make(chan struct{})
	var work sync.WaitGroup
	for i := range 8 {
		work.Go(func() {
			for j := range 2000 {
				n := 1 + (i*7+j)%400
				if a.Await(n, over) {
					a.Keep(n) // as what is passed on is queued while it is held
					a.Credit(n)
					a.Credit(n)
				}
			}
		})
	}
	work.Wait()
	if a.Kept() != 0 || user.Kept() != 0 {
		t.Errorf("got %d and %d bytes left, want none", a.Kept(), user.Kept())
	}
}

func BenchmarkCharge(b *testing.B) {
	user := account.New(account.User, nil)
	a := account.New(account.Client, user)
	b.ReportAllocs()
	for b.Loop() {
		if !a.Charge(700) {
			b.Fatal("no room")
		}
		a.Credit(700)
	}
}
