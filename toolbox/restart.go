package toolbox

import (
	"errors"
	"fmt"
)

// ErrRestarted says that a person has had a server started anew.
var ErrRestarted = errors.New("the user had it started anew (workbench restart)")

// Restart has the server started anew at once: one that runs is ended first, so that the calls which it has are lost; one that
// rests after a failure is tried now. The error says why there is nothing to start.
func (s *Server) Restart() error {
	s.mu.Lock()
	c, st, retired := s.conn, s.status, s.retired
	s.mu.Unlock()
	switch {
	case retired:
		return ErrRetired
	case c != nil:
		c.breakOff(ErrRestarted)
	case st.State == Failed || st.State == Disabled:
		return fmt.Errorf("it is %s: %w", st.State, st.Cause)
	case st.State == Stopped && !st.asleep():
		return errors.New("its toolbox is not open")
	default:
		s.retry()
	}
	return nil
}
