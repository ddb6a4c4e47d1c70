package storehost

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/store"
)

// expireEvery is how often it is looked which conversations are too old.
const expireEvery = time.Hour

// expire deletes conversations that are older than the configuration wants them kept, and says so before, until ctx
// ends.
func expire(ctx context.Context, s *store.Store, log zerolog.Logger) {
	every := time.NewTicker(expireEvery)
	defer every.Stop()
	said := false
	for {
		done, err := s.Expire(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			log.Warn().AnErr(logkey.Err, err).Msg("old conversations could not be deleted")
		case done.From.IsZero():
			return // All are kept for good.
		case done.Due > 0 && !said:
			said = true
			log.Warn().Int(logkey.Conversations, done.Due).Str(logkey.Detail, "from "+done.From.Local().Format(time.RFC3339)+" on; an export keeps them").
				Msg("old conversations will be deleted")
		}
		if done.Deleted > 0 {
			log.Info().Int(logkey.Conversations, done.Deleted).Msg("old conversations were deleted")
			continue // There may be more.
		}
		select {
		case <-every.C:
		case <-ctx.Done():
			return
		}
	}
}
