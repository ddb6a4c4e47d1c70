package toolbox_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/toolbox"
)

func TestExplain(t *testing.T) {
	cause := errors.New("no licence")
	for _, tt := range []struct {
		name   string
		status toolbox.Status
		next   time.Duration // until it is tried again; below 0 is never
		want   string        // as an UnavailableError
	}{
		{"starting", toolbox.Status{State: toolbox.Starting}, -1, " (starting): since 1.5s; calls wait until it is ready"},
		{"starting again", toolbox.Status{State: toolbox.Starting, Cause: cause}, -1, " (starting): since 1.5s; calls wait until it is ready; it failed before: no licence"},
		{"resting", toolbox.Status{State: toolbox.Backoff, Cause: cause}, 4 * time.Second, " (backoff): no licence; it is tried again in 4s, or at once when its toolbox is opened again"},
		{"rested", toolbox.Status{State: toolbox.Open, Cause: cause}, 0, " (circuit-open): no licence; it is tried again now"},
		{"without credentials", toolbox.Status{State: toolbox.NeedsLogin, Cause: cause}, -1, " (needs-login): no licence; it is tried again when its toolbox is opened again"},
		{"wrongly configured", toolbox.Status{State: toolbox.Failed, Cause: cause}, -1, " (failed): no licence"},
		{"closed", toolbox.Status{State: toolbox.Stopped}, -1, " (stopped)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if tt.next >= 0 {
					tt.status.Next = time.Now().Add(tt.next)
				}
				tt.status.Since = time.Now().Add(-1500 * time.Millisecond)
				err := &toolbox.UnavailableError{Toolbox: "box", Server: "s", Status: tt.status}
				if got, want := err.Error(), `server "s" of toolbox "box" is not available`+tt.want; got != want {
					t.Errorf("got %s\nwant %s", got, want)
				}
			})
		})
	}
}

func TestLastSeen(t *testing.T) {
	for ago, want := range map[time.Duration]string{
		-time.Hour: "just now", 0: "just now", 59 * time.Second: "just now", time.Minute: "1 minute ago",
		59 * time.Minute: "59 minutes ago", time.Hour: "1 hour ago", 47 * time.Hour: "1 day ago", 90 * 24 * time.Hour: "90 days ago",
	} {
		synctest.Test(t, func(t *testing.T) {
			if got := (toolbox.Status{Seen: time.Now().Add(-ago)}).LastSeen(); got != want {
				t.Errorf("%s: got %q, want %q", ago, got, want)
			}
		})
	}
	if got := (toolbox.Status{}).LastSeen(); got != "" {
		t.Errorf("never: got %q, want nothing", got)
	}
}
