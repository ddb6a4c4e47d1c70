// Package recordhost keeps the record of calls as the configuration says.
package recordhost

import (
	"context"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/calls"
	"github.com/mcp-workbench/workbench/internal/logkey"
)

// Recorder keeps the record, on disk where the configuration wants that.
type Recorder struct {
	calls *calls.Log
	log   zerolog.Logger

	mu   sync.Mutex
	cfg  config.Record
	stop func()      // ends the writing to disk
	done chan uint64 // has the number of the last call that was written when that has ended; nil if none are
}

// New has the record of the calls of this process kept.
func New(kept *calls.Log, cfg *config.Config, log zerolog.Logger) *Recorder {
	r := &Recorder{calls: kept, log: log, stop: func() {}}
	r.Reload(cfg)
	return r
}

// recordEnd is how long the end waits for a disk that calls are written to.
const recordEnd = 300 * time.Millisecond

// hung is after how long a disk that was written to is given up for another.
const hung = time.Minute

// Reload has the record kept as a configuration says.
func (r *Recorder) Reload(cfg *config.Config) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls.SetMode(calls.Mode(cfg.Record.Mode))
	old := r.cfg
	r.cfg = cfg.Record
	old.Mode, r.cfg.Mode = "", ""
	if old == r.cfg {
		return
	}
	r.stop()
	before := r.done
	r.stop, r.done = func() {}, nil
	if r.cfg.Dir == "" {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan uint64, 1)
	r.stop, r.done = cancel, done
	files := calls.Files{Dir: r.cfg.Dir, MaxSize: r.cfg.MaxSize, MaxAge: r.cfg.MaxAge, Failed: func(err error) {
		r.log.Warn().AnErr(logkey.Err, err).Msg("calls cannot be kept on disk")
	}}
	last := r.calls.Last()
	go func() {
		if before != nil {
			select {
			case last = <-before: // each call is written by one of the two
			case <-time.After(hung):
			}
		}
		done <- files.Write(ctx, r.calls, last)
	}()
}

// Close has what was recorded written, if that does not take long.
func (r *Recorder) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stop()
	if r.done == nil {
		return
	}
	select {
	case <-r.done:
	case <-time.After(recordEnd): // the disk hangs
	}
}
