package toolbox

import (
	"errors"
	"fmt"
)

// ErrRestarted says that a person has had a server started anew.
var ErrRestarted = errors.New("the user restarted it (workbench restart)")

// Restart has the server started anew at once: one that runs is ended first, so that the calls which it has are lost;
// one that rests after a failure is tried now. The error says why there is nothing to start.
func (s *Server) Restart() error {
	switch at := s.at.now(); {
	case at.retired:
		return ErrRetired
	case at.conn != nil:
		at.conn.Break(ErrRestarted)
	case at.State == Failed || at.State == Disabled:
		return fmt.Errorf("it is %s: %w", at.State, at.Cause)
	case at.State == Stopped && !at.asleep():
		return errors.New("its toolbox is not open")
	default:
		s.at.retry()
	}
	return nil
}
