package pause

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		if err := For(t.Context(), time.Hour); err != nil || time.Since(begun) != time.Hour {
			t.Errorf("got %v after %v, want an hour", err, time.Since(begun))
		}
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { cancel(why) })
		begun = time.Now()
		if err := For(ctx, time.Hour); !errors.Is(err, why) || time.Since(begun) != time.Minute {
			t.Errorf("got %v after %v, want %v after a minute", err, time.Since(begun), why)
		}
	})
}
