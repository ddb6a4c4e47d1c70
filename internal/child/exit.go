package child

import (
	"fmt"
	"time"
)

// Exit says how a process ended.
type Exit struct {
	Code   int       // exit status; -1 if a signal ended it
	Signal string    // "SIGKILL"; "" if the process exited by itself
	Asked  bool      // Stop was called before it ended
	At     time.Time // when we learned of it

	number int  // of the signal
	lost   bool // the guard ended, and with it the process
}

// String returns "exit status 3" or "killed by signal 9 (SIGKILL)", or that it was killed with its guard.
func (e Exit) String() string {
	if e.lost {
		return "killed because its guard process ended"
	}
	if e.Signal != "" {
		return fmt.Sprintf("killed by signal %d (%s)", e.number, e.Signal)
	}
	return fmt.Sprintf("exit status %d", e.Code)
}
