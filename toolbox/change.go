package toolbox

import (
	"time"

	"github.com/mcp-workbench/workbench/internal/foreign"
)

// moveLocked is the one place where the state of a server changes: the change is stamped, and who waits for one is woken.
func (s *Server) moveLocked(to State) {
	s.status.State, s.status.Since = to, time.Now()
	s.wakeLocked()
}

// wakeLocked wakes who waits for a change.
func (s *Server) wakeLocked() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// set is the owner's word on where the server stands. It is told to the event listener, and the queue is looked at.
func (s *Server) set(state State, cause error, next time.Time, c *conn) {
	if cause != nil {
		cause = foreign.NewError(s.hidden.Load().Error(cause))
	}
	s.mu.Lock()
	s.moveLocked(state)
	s.status.Cause, s.status.Next, s.status.PID = cause, next, 0
	if c != nil {
		s.status.PID = c.link.Process().PID()
		s.hello, s.late = &c.hello, false
	}
	if state == Starting {
		if s.status.Starts++; s.status.Starts > 1 {
			s.counts.restarts.Add(1)
		}
	}
	if !s.retired {
		s.conn = c
	}
	event := s.eventLocked()
	s.mu.Unlock()
	s.tell(event)
	s.pump()
}

// enter exchanges one state for another while the server starts, and tells of it.
func (s *Server) enter(from, to State) {
	s.mu.Lock()
	if s.status.State != from {
		s.mu.Unlock()
		return
	}
	s.moveLocked(to)
	event := s.eventLocked()
	s.mu.Unlock()
	s.tell(event)
}

// eventLocked makes the event of the state that the server has come into, and notes it among what the server wrote, before
// anybody can ask for that.
func (s *Server) eventLocked() Event {
	event := Event{Toolbox: s.Toolbox, Server: s.Name, Status: s.status, Took: s.status.Since.Sub(s.told)}
	event.Status.Tools = len(s.lists.Items(Tools))
	s.told = s.status.Since
	s.noteState(&event.Status)
	return event
}

func (s *Server) tell(event Event) {
	if listen := s.box.opts.Event; listen != nil {
		listen(event)
	}
}

// expect has calls wait for the server from now on, whose owner will say the same at once, or, with the states exchanged, no
// longer.
func (s *Server) expect(from, to State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status.State == from {
		s.moveLocked(to)
	}
}

// withdraw has what is asked of the server from now on wait for the connection after c, whose end its owner will tell.
func (s *Server) withdraw(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == c {
		s.conn = nil
		s.moveLocked(Starting)
	}
}

// retry has a server started at once that rests after a failure or was idle. Who asks waits for the outcome from now on.
func (s *Server) retry() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status.State != Backoff && s.status.State != Open && s.status.State != NeedsLogin && !s.status.asleep() {
		return
	}
	s.moveLocked(Starting)
	select {
	case s.poke <- struct{}{}:
	default:
	}
}
