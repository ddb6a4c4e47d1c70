package toolbox

import (
	"math"
	"math/rand/v2"
	"time"
)

// The rules of restarting. The first restart is immediate, since most crashes
// are single ones and a caller is waiting; then the delay doubles. A server
// that crashed often in a short time is left alone until one probe succeeds.
const (
	backoffFirst   = 250 * time.Millisecond
	backoffMax     = 30 * time.Second
	backoffJitter  = 0.2
	failureHalf    = 30 * time.Second // half-life of a failure's weight
	circuitCrashes = 5
	circuitWindow  = 60 * time.Second
	circuitPause   = 30 * time.Second
	healthyAfter   = 60 * time.Second
)

// backoff decides how long a failed server rests. It is owned by the server's
// goroutine.
type backoff struct {
	score   float64 // failures, each weighing half after failureHalf
	at      time.Time
	crashes []time.Time // within circuitWindow
	open    bool
}

// failed notes a failure at now and returns how long to wait before the next
// start, and whether the circuit is open.
func (b *backoff) failed(now time.Time) (wait time.Duration, open bool) {
	if !b.at.IsZero() {
		b.score *= math.Exp2(-float64(now.Sub(b.at)) / float64(failureHalf))
	}
	b.at = now
	b.score++
	keep := b.crashes[:0]
	for _, t := range b.crashes {
		if now.Sub(t) < circuitWindow {
			keep = append(keep, t)
		}
	}
	b.crashes = append(keep, now)
	if b.open || len(b.crashes) >= circuitCrashes {
		b.open = true
		return jitter(circuitPause), true
	}
	n := len(b.crashes)
	if n == 1 {
		return 0, false
	}
	// The decayed score, not the count, sets the exponent: a server that
	// fails now and then is not punished like one that fails in a row.
	d := time.Duration(float64(backoffFirst) * math.Exp2(math.Max(0, b.score-2)))
	return jitter(min(d, backoffMax)), false
}

// served notes that the server has been ready for up before it ended. If the
// circuit was open that was the probe, which closes it; crashes that are still
// near open it again.
func (b *backoff) served(up time.Duration) {
	b.open = false
	if up >= healthyAfter {
		*b = backoff{}
	}
}

// jitter spreads restarts that would else happen together.
func jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (1 + backoffJitter*(2*rand.Float64()-1)))
}
