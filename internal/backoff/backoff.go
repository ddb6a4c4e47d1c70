// Package backoff decides how long what has failed rests before it is tried again.
package backoff

import (
	"math"
	"math/rand/v2"
	"time"
)

// The rules of restarting. The first restart is immediate, since most crashes are single ones and a caller is waiting;
// then the delay doubles. A server that crashed often in a short time is left alone until one probe succeeds.
const (
	First          = 250 * time.Millisecond // the shortest rest
	Max            = 30 * time.Second       // the longest that doubling makes
	spread         = 0.2
	failureHalf    = 30 * time.Second // half-life of a failure's weight
	circuitCrashes = 5
	circuitWindow  = 60 * time.Second
	circuitPause   = 30 * time.Second
	healthyAfter   = 60 * time.Second
)

// Counter counts the failures of a server. It belongs to one goroutine.
type Counter struct {
	score   float64 // failures, each weighing half after failureHalf
	at      time.Time
	crashes []time.Time // within circuitWindow
	open    bool
}

// Failed notes a failure at now and returns how long to wait before the next start, and whether the circuit is open.
func (c *Counter) Failed(now time.Time) (wait time.Duration, open bool) {
	if !c.at.IsZero() {
		c.score *= math.Exp2(-float64(now.Sub(c.at)) / float64(failureHalf))
	}
	c.at = now
	c.score++
	keep := c.crashes[:0]
	for _, t := range c.crashes {
		if now.Sub(t) < circuitWindow {
			keep = append(keep, t)
		}
	}
	c.crashes = append(keep, now)
	if c.open || len(c.crashes) >= circuitCrashes {
		c.open = true
		return Jitter(circuitPause), true
	}
	n := len(c.crashes)
	if n == 1 {
		return 0, false
	}
	// The decayed score, not the count, sets the exponent: a server that fails now and then is not punished like one
	// that fails in a row.
	d := time.Duration(float64(First) * math.Exp2(math.Max(0, c.score-2)))
	return Jitter(min(d, Max)), false
}

// Served notes that the server has been ready for up before it ended. If the circuit was open that was the probe, which
// closes it; crashes that are still near open it again.
func (c *Counter) Served(up time.Duration) {
	c.open = false
	if up >= healthyAfter {
		*c = Counter{}
	}
}

// Jitter spreads restarts that would else happen together.
func Jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (1 + spread*(2*rand.Float64()-1)))
}
