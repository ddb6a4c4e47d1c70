//go:build unix

package lifetime

import (
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// A hangup has the configuration read anew where somebody does that, unless it is the end of the terminal.
func TestHangup(t *testing.T) {
	for name, test := range map[string]struct {
		taken, attended, closed bool
		goesOn                  bool
	}{
		"nobody takes it":                    {false, false, false, false},
		"taken":                              {true, false, false, true},
		"taken, at a terminal":               {true, true, false, true},
		"taken, and the terminal was closed": {true, true, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			var terminal atomic.Bool
			terminal.Store(test.attended)
			h := NewHangups()
			ctx, stop := Signals(t.Context(), h, terminal.Load)
			defer stop()
			var taken <-chan struct{}
			if test.taken {
				taken = h.Take()
			}
			if test.closed {
				terminal.Store(false)
			}
			if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
				t.Fatal(err)
			}
			goesOn := false
			select {
			case <-taken:
				goesOn = true
			case <-ctx.Done():
			case <-time.After(2 * time.Minute):
				t.Fatal("nothing came of the signal")
			}
			if goesOn != test.goesOn {
				t.Errorf("it goes on: got %t, want %t", goesOn, test.goesOn)
			}
		})
	}
}

// A disk that hangs where the log is opened again does not keep the program from ending.
func TestEndWhileALogIsOpened(t *testing.T) {
	opening, hangs := make(chan struct{}), make(chan struct{})
	defer close(hangs)
	h := NewHangups()
	h.Reopen = func() {
		close(opening)
		<-hangs
	}
	h.Take()
	ctx, stop := Signals(t.Context(), h, func() bool { return false })
	defer stop()
	for _, step := range []struct {
		signal syscall.Signal
		came   <-chan struct{}
	}{{syscall.SIGHUP, opening}, {syscall.SIGTERM, ctx.Done()}} {
		if err := syscall.Kill(os.Getpid(), step.signal); err != nil {
			t.Fatal(err)
		}
		select {
		case <-step.came:
		case <-time.After(30 * time.Second):
			t.Fatalf("nothing came of %v", step.signal)
		}
	}
}
