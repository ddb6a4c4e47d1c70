package httpfront

import (
	"context"
	"crypto/tls"
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
	maxHeader  = 32 << 10
	headerTime = 10 * time.Second
	idleTime   = 2 * time.Minute
	lingerTime = time.Second // for a client that is let go at the end to read why
)

// Serve serves on ln, which it closes, until ctx ends. Then nothing more is accepted, what is under way is answered for
// the drain time at most, subscriptions are ended with their last message, and so are the sessions with their servers.
// It returns nil after that, and the cause if listening fails.
func (f *Front) Serve(ctx context.Context, ln net.Listener) error {
	full := &crowd{log: f.opts.Logger}
	if f.opts.TLS != nil {
		ln = tls.NewListener(limitConns(ln, f.opts.MaxConns, nil, full.tell), f.opts.TLS)
	} else {
		ln = limitConns(ln, f.opts.MaxConns, f.visitors.log.misled, full.tell)
	}
	srv := &http.Server{
		Handler:           f,
		MaxHeaderBytes:    maxHeader,
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       idleTime,
		// A response that is not a stream begins within KeepAlive.
		WriteTimeout: f.opts.KeepAlive + 2*writeTime,
		ErrorLog:     stdlog.New(serverLog{f.opts.Logger}, "", 0),
		ConnContext:  withConn,
	}
	serving, stop := context.WithCancel(ctx)
	defer stop()
	var work sync.WaitGroup
	work.Go(func() { f.mcp.clients.keepSwept(serving) })
	failed := make(chan error, 1)
	work.Go(func() { failed <- srv.Serve(ln) })

	var err error
	select {
	case err = <-failed:
		stop()
	case <-ctx.Done():
	}
	_ = ln.Close() // no new connection while the old ones are served
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), f.opts.Drain)
	defer cancel()
	var answering sync.WaitGroup
	answering.Go(func() { f.commands.shut(drain) })
	f.mcp.clients.shut(drain)
	answering.Wait()
	// What was given up is told to its clients, if they read. The drain's end is when that was said: servers that were
	// slow to end since then have taken of the same time.
	told := time.Now()
	if end, _ := drain.Deadline(); end.Before(told) {
		told = end
	}
	last, cancel := context.WithDeadline(context.WithoutCancel(ctx), told.Add(lingerTime))
	defer cancel()
	if srv.Shutdown(last) != nil {
		_ = srv.Close()
	}
	work.Wait()
	return err
}

// crowd logs why clients wait for a connection: once a minute at most, for it is so until others have gone.
type crowd struct {
	log zerolog.Logger
	mu  sync.Mutex
	at  time.Time // the last time
}

func (c *crowd) tell(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.at) >= time.Minute {
		c.at = now
		c.log.Warn().AnErr(logkey.Err, why).Msg("no more connections are taken until some have ended")
	}
}

// serverLog takes what net/http has to say of connections.
type serverLog struct{ log zerolog.Logger }

// Write implements io.Writer.
func (l serverLog) Write(line []byte) (int, error) {
	l.log.Debug().Str(logkey.Detail, strings.TrimSpace(string(line))).Msg("trouble with a connection")
	return len(line), nil
}
