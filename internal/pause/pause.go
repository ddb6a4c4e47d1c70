// Package pause waits a while.
package pause

import (
	"context"
	"time"
)

// For waits so long, or until ctx ends: the error is then the cause of that.
func For(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
