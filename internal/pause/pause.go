// Package pause waits a while.
package pause

import (
	"context"
	"time"
)

// For waits so long, or until ctx ends: the error is then the cause of that.
func For(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
