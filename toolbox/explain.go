package toolbox

import (
	"fmt"
	"time"
)

// Explain says why the server is not ready and what becomes of it, in words for who wants to use it; "" if there is
// nothing to say.
func (st Status) Explain() string {
	if st.State.IsStarting() {
		text := st.When() + "; calls wait until it is ready"
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
	switch when := st.When(); {
	case st.State == NeedsLogin:
		text += "; it is tried again when its toolbox is opened again"
	case st.State != Backoff && st.State != Open:
	case when != "":
		text += "; " + when + ", or at once when its toolbox is opened again"
	case !st.Next.IsZero():
		text += "; it is tried again now"
	}
	return text
}

// When says since when the server is starting, or when it is tried again; "" if it does neither.
func (st Status) When() string {
	if st.State.IsStarting() {
		return fmt.Sprintf("since %s", time.Since(st.Since).Round(100*time.Millisecond))
	}
	if d := time.Until(st.Next); d > 0 {
		return fmt.Sprintf("it is tried again in %s", d.Round(100*time.Millisecond))
	}
	return ""
}

// Advice says what to do about a server that is not ready; "" if nothing.
func (st Status) Advice() string {
	switch st.State {
	case Starting:
		if st.Cause != nil {
			return "it is tried again, and a call waits for it; if it keeps failing, fix the cause"
		}
		return "a call waits for it"
	case Installing:
		return "its package is being fetched; a call waits for it"
	case Backoff:
		return "if it keeps failing, fix the cause"
	case Open:
		return "it failed too often: fix the cause, then open the toolbox again to try it at once"
	case NeedsLogin:
		return "give it the login or the credentials that the cause names, then open the toolbox again"
	case Failed:
		return "correct its entry in the configuration; workbench check says what is wrong with it"
	}
	return ""
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
