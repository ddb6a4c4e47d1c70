package toolbox

import (
	"fmt"
	"time"
)

// Explain says why the server is not ready and what becomes of it, in words
// for who wants to use it; "" if there is nothing to say.
func (st Status) Explain() string {
	if st.State.IsStarting() {
		text := fmt.Sprintf("since %s; calls wait until it is ready", time.Since(st.Since).Round(100*time.Millisecond))
		if st.State == Installing {
			text += "; its package is being fetched"
		}
		if st.Cause != nil {
			text += "; it failed before: " + st.Cause.Error()
		}
		return text
	}
	if st.Cause == nil {
		return ""
	}
	text := st.Cause.Error()
	switch d := time.Until(st.Next); {
	case st.State == NeedsLogin:
		text += "; it is tried again when its toolbox is opened again"
	case st.State != Backoff && st.State != Open:
	case d > 0:
		text += fmt.Sprintf("; it is tried again in %s, or at once when its toolbox is opened again", d.Round(100*time.Millisecond))
	default:
		text += "; it is tried again now"
	}
	return text
}

// LastSeen words Seen as its distance from now: "2 hours ago"; "" if it is zero.
func (st Status) LastSeen() string {
	if st.Seen.IsZero() {
		return ""
	}
	d := time.Since(st.Seen)
	for _, unit := range []struct {
		of   time.Duration
		name string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		switch n := int(d / unit.of); {
		case n == 1:
			return "1 " + unit.name + " ago"
		case n > 1:
			return fmt.Sprintf("%d %ss ago", n, unit.name)
		}
	}
	return "just now"
}
