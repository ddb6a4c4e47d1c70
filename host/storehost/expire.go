package storehost

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/store"
)

const (
	// expireEvery is how often it is looked which conversations are too old.
	expireEvery = time.Hour
	// settleTime is for how long nothing is deleted after the start, and after the clock was set: that of a machine which
	// has just started may be far ahead, until it is set by that of another, and what was deleted by then is gone.
	settleTime = 10 * time.Minute
	// setBy is by how much more than a clock that nobody can set the clock has gone on when it was set.
	setBy = time.Minute
)

// expiring is the store of conversations, as far as that concerns their age.
type expiring interface {
	Expire(ctx context.Context, certain bool) (store.Expiry, error)
}

// expire deletes conversations that are older than the configuration wants them kept, and says so before, until ctx
// ends. It asks clock for the time, and for how long the machine has been running by a clock that nobody can set.
func expire(ctx context.Context, s expiring, log zerolog.Logger, clock func() (time.Time, time.Duration)) {
	said := false
	set, at := clock()
	for {
		now, running := clock()
		if off := now.Sub(set) - (running - at); off.Abs() > setBy {
			set, at = now, running
		}
		certain, next := running-at >= settleTime, expireEvery
		if !certain {
			next = settleTime
		}
		done, err := s.Expire(ctx, certain)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			log.Warn().AnErr(logkey.Err, err).Msg("old conversations could not be deleted")
		case done.From.IsZero():
			return // All are kept for good.
		case done.Due > 0 && !said && now.Before(done.From):
			said = true
			log.Warn().Int(logkey.Conversations, done.Due).Str(logkey.Detail, "from "+done.From.Local().Format(time.RFC3339)+" on; an export keeps them").
				Msg("old conversations will be deleted")
		}
		if done.Deleted > 0 {
			log.Info().Int(logkey.Conversations, done.Deleted).Msg("old conversations were deleted")
			continue // There may be more.
		}
		select {
		case <-time.After(next):
		case <-ctx.Done():
			return
		}
	}
}

// system is the clock of this machine.
func system() func() (time.Time, time.Duration) {
	began := time.Now()
	return func() (time.Time, time.Duration) { return time.Now().Round(0), time.Since(began) }
}
