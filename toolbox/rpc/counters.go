package rpc

import (
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/workbench/config"
)

// Limits are what bounds the work of a server.
type Limits struct {
	config.Timeouts
	MaxInFlight int64
	Idle        time.Duration // after which the server is stopped; 0: it is not
}

// Counters is what was counted of a server since its toolbox was made, over all its starts. InFlight and Queued are of
// this moment.
type Counters struct {
	Calls    uint64 // requests that were sent to it, ours (handshake, lists, pings) among them
	Failures uint64 // of these, those that it answered with a JSON-RPC error
	Lost     uint64 // of these, those that got no reply: it ended, was too late, or broke the protocol
	Refused  uint64 // requests that were not sent because too much waited already
	Restarts uint64 // starts after the first

	Late    uint64 // replies to requests that nobody waited for any more, or that had been answered
	Unknown uint64 // replies to requests that were never made
	Noise   uint64 // lines that were not messages
	Dropped uint64 // notifications that were left out because there were too many

	InFlight int // requests of clients that it has and has not answered
	Queued   int // requests of clients that wait to be sent to it
}

// Counts are what Counters is read from: counted by those who do the work, read by anybody without a lock.
type Counts struct {
	Calls, Failures, Lost, Refused, Restarts atomic.Uint64
	Late, Unknown, Noise, Dropped            atomic.Uint64
	InFlight, Queued                         atomic.Int64

	strayed atomic.Pointer[strayed]
}

// strayed is the last call that was given up.
type strayed struct {
	at   time.Time
	over <-chan struct{} // closed with the connection that it was made on, which the server's work ends with
}

// Read returns the counters; the numbers are each right, but not all of one moment.
func (c *Counts) Read() Counters {
	return Counters{
		Calls:    c.Calls.Load(),
		Failures: c.Failures.Load(),
		Lost:     c.Lost.Load(),
		Refused:  c.Refused.Load(),
		Restarts: c.Restarts.Load(),
		Late:     c.Late.Load(),
		Unknown:  c.Unknown.Load(),
		Noise:    c.Noise.Load(),
		Dropped:  c.Dropped.Load(),
		InFlight: int(c.InFlight.Load()),
		Queued:   int(c.Queued.Load()),
	}
}

// HasRoom reports whether the server may have one more call of a client.
func (c *Counts) HasRoom(l *Limits) bool { return c.InFlight.Load() < l.MaxInFlight }

// strayTime is for how long a server may be working on a call that was given up, as far as anybody can tell.
const strayTime = time.Minute

// Strays reports whether the server may be working on a call that nobody waits for any more.
func (c *Counts) Strays() bool {
	last := c.strayed.Load()
	if last == nil || time.Since(last.at) >= strayTime {
		return false
	}
	select {
	case <-last.over:
		return false
	default:
		return true
	}
}
