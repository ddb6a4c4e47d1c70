package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// signals gives a context that the first interrupt ends; the second ends the
// program at once.
func signals(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	ends := make(chan os.Signal, 2)
	signal.Notify(ends, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// A reader of our output that goes away is an error of Write, not a
	// signal that would kill us before the servers are stopped. Notify and
	// not Ignore, because children would inherit an ignored signal.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	done := make(chan struct{})
	go func() {
		first := true
		for {
			select {
			case s := <-ends:
				if !first {
					os.Exit(exitFault)
				}
				first = false
				cancel(fmt.Errorf("received signal %s", s))
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
