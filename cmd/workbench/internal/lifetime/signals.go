package lifetime

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// passedOn is within what time a signal that comes again is the same one: a terminal sends an interrupt to all programs
// in its foreground, and those that start others, as npx and the package of npm do, pass theirs on.
const passedOn = 250 * time.Millisecond

// Signals gives a context that the first interrupt ends; the second ends the program at once. A hangup is an interrupt
// too, unless hangups were taken and the terminal is still there, if there was one.
func Signals(ctx context.Context, hangups *Hangups, terminal func() bool) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	ends := make(chan os.Signal, 2)
	signal.Notify(ends, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// A reader of our output that goes away is an error of Write, not a signal that would kill us before the servers
	// are stopped. Notify and not Ignore, because children would inherit an ignored signal.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	done := make(chan struct{})
	attended := terminal()
	go func() {
		var first os.Signal
		var at time.Time
		for {
			select {
			case s := <-ends:
				if s == syscall.SIGHUP && attended == terminal() && hangups.Give() {
					continue
				}
				switch {
				case first == nil:
					first, at = s, time.Now()
					cancel(SignalError{s})
				case s != first || time.Since(at) > passedOn:
					os.Exit(faultCode)
				}
			case <-broken:
			case <-done:
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(ends)
		signal.Stop(broken)
		close(done)
		cancel(nil)
	}
}

// faultCode is the exit code of a program that an end by force, or by something that is no signal, has ended.
const faultCode = 1

// SignalError says that a signal ended what was under way.
type SignalError struct{ os.Signal }

func (e SignalError) Error() string {
	if e.Signal == os.Interrupt {
		return "interrupted"
	}
	return "received signal " + e.String()
}

// Code is the exit code of a program that a signal has ended, as shells have it.
func (e SignalError) Code() int {
	if s, ok := e.Signal.(syscall.Signal); ok {
		return 128 + int(s)
	}
	return faultCode
}

// Stopped gives the error of a server on standard input and output. A signal is the way in which some clients end
// theirs, and no fault.
func Stopped(err error) error {
	if errors.As(err, new(SignalError)) {
		return nil
	}
	return err
}

// Hangups are the SIGHUPs of a program that goes on at them.
type Hangups struct {
	Reopen func() // what is done at each besides; nil is nothing
	taken  atomic.Bool
	c      chan struct{}
	giving sync.Mutex // held while one is handed on
}

func NewHangups() *Hangups { return &Hangups{c: make(chan struct{}, 1)} }

// Take has hangups end the program no longer, but be received.
func (h *Hangups) Take() <-chan struct{} {
	h.taken.Store(true)
	return h.c
}

// Give hands one on; it reports false if nobody takes them. Reopen may wait for a disk, and the signal that ends the
// program must not wait for Reopen.
func (h *Hangups) Give() bool {
	taken := h.taken.Load()
	if taken {
		go h.give()
	}
	return taken
}

func (h *Hangups) give() {
	h.giving.Lock() // the last to open a file opens the newest one
	defer h.giving.Unlock()
	if h.Reopen != nil {
		h.Reopen()
	}
	select {
	case h.c <- struct{}{}:
	default: // one that was not received yet will do
	}
}
