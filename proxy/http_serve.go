package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	stdlog "log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/logkey"
)

// Limits of connections.
const (
	maxHeader   = 32 << 10
	headerTime  = 10 * time.Second
	idleTime    = 2 * time.Minute
	sweepPeriod = time.Minute
)

// Serve serves on ln, which it closes, until ctx ends. Then nothing more is
// accepted, what is under way is answered for the drain time at most,
// subscriptions are ended with their last message, and all servers are stopped.
// It returns nil after that, and the cause if listening fails.
func (h *HTTP) Serve(ctx context.Context, ln net.Listener) error {
	ln = limitConns(ln, h.opts.MaxConns)
	if h.opts.TLS != nil {
		ln = tls.NewListener(ln, h.opts.TLS)
	}
	srv := &http.Server{
		Handler:           h,
		MaxHeaderBytes:    maxHeader,
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       idleTime,
		// A response that is not a stream begins within KeepAlive.
		WriteTimeout: h.opts.KeepAlive + 2*writeTime,
		ErrorLog:     stdlog.New(serverLog{h.log}, "", 0),
		ConnContext:  withConn,
	}
	serving, stop := context.WithCancel(ctx)
	defer stop()
	var work sync.WaitGroup
	work.Go(func() { h.sweep(serving) })
	failed := make(chan error, 1)
	work.Go(func() { failed <- srv.Serve(ln) })

	var err error
	select {
	case err = <-failed:
		stop()
	case <-ctx.Done():
	}
	_ = ln.Close() // no new connection while the old ones are served
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), h.opts.Drain)
	defer cancel()
	var answering sync.WaitGroup
	answering.Go(func() { h.commands.shut(drain) })
	h.clients.shut(drain)
	answering.Wait()
	// What was given up is told to its clients, if they read.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lingerTime)
	defer cancel()
	if srv.Shutdown(last) != nil {
		_ = srv.Close()
	}
	work.Wait()
	return errors.Join(err, h.root.Close())
}

// serverLog takes what net/http has to say of connections.
type serverLog struct{ log zerolog.Logger }

// Write implements io.Writer.
func (l serverLog) Write(line []byte) (int, error) {
	l.log.Debug().Str(logkey.Detail, strings.TrimSpace(string(line))).Msg("trouble with a connection")
	return len(line), nil
}

// sweep ends idle sessions until ctx ends.
func (h *HTTP) sweep(ctx context.Context) {
	tick := time.NewTicker(min(sweepPeriod, h.opts.Idle/2, h.opts.ModernIdle/2))
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			h.clients.sweep(now)
		case <-ctx.Done():
			return
		}
	}
}
