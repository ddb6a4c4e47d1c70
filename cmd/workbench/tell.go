package main

import (
	"context"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/reload"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/metrics"
	"github.com/mcp-workbench/workbench/internal/status"
	"github.com/mcp-workbench/workbench/proxy"
	"github.com/mcp-workbench/workbench/proxy/localfront"
)

// tellDelay is how long after its start a workbench begins to tell of itself: those that a client starts only to look
// at end before.
const tellDelay = 200 * time.Millisecond

// stateOf gives what says where this process stands.
func stateOf(url string, front *proxy.Proxy, follow *reload.Reloader) func() status.Workbench {
	began := time.Now()
	dir, _ := os.Getwd() // that of no project is not known
	return func() status.Workbench {
		w := status.Workbench{PID: os.Getpid(), Dir: dir, Version: cli.Version(), Since: began.Round(0), Address: url, RSS: status.RSS(), Front: front.Status()}
		follow.Tell(&w)
		return w
	}
}

// beTold answers workbench status, and readers of metrics, on a local socket until stop is called, and others by
// guests, if that is not nil. That it cannot be made harms nobody.
func beTold(e *opening.Environment, log zerolog.Logger, url string, front *proxy.Proxy, guests http.Handler, follow *reload.Reloader) (stop func()) {
	now := stateOf(url, front, follow)
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() {
		select {
		case <-time.After(tellDelay):
		case <-ctx.Done():
			return
		}
		answers := status.Answers{
			Metrics:   metrics.Handler(cli.Version(), front.Status, front.TimeCalls),
			Guests:    guests,
			Approvals: e.Approvals,
			Calls:     front.Calls(),
			Servers:   localfront.Servers(front),
		}
		err := status.ErrRemoved
		for err == status.ErrRemoved {
			var ln net.Listener
			if ln, err = status.Listen(ctx, e.RuntimeDirs()); err == nil {
				err = status.Serve(ctx, ln, now, answers)
			}
		}
		if err != nil {
			log.Debug().AnErr(logkey.Err, err).Msg("no status socket")
		}
	})
	return func() {
		cancel()
		work.Wait()
	}
}
