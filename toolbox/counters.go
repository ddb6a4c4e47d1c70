package toolbox

import "sync/atomic"

// Counters is what was counted of a server since its toolbox was made, over
// all its starts. InFlight and Queued are of this moment.
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

// counters are what Counters is read from: counted by those who do the work,
// read by anybody without a lock.
type counters struct {
	calls, failures, lost, refused, restarts atomic.Uint64
	late, unknown, noise, dropped            atomic.Uint64
	inFlight, queued                         atomic.Int64
}

// Dropped counts a notification of the server that its client was not given.
func (s *Server) Dropped() { s.counts.dropped.Add(1) }

// Counters returns what was counted of the server. It takes no lock and may be
// called at any time; the numbers are each right, but not all of one moment.
func (s *Server) Counters() Counters {
	c := &s.counts
	return Counters{
		Calls:    c.calls.Load(),
		Failures: c.failures.Load(),
		Lost:     c.lost.Load(),
		Refused:  c.refused.Load(),
		Restarts: c.restarts.Load(),
		Late:     c.late.Load(),
		Unknown:  c.unknown.Load(),
		Noise:    c.noise.Load(),
		Dropped:  c.dropped.Load(),
		InFlight: int(c.inFlight.Load()),
		Queued:   int(c.queued.Load()),
	}
}
