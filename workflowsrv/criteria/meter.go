package criteria

import (
	"context"
	"errors"
	"time"
)

// budget is the time that the regular expressions and JSON Schemas of one call may spend together; matchTimeout is
// what one match may. The clock of regexp2 ticks every 100 ms, so a match ends at the latest two ticks after its
// time-out.
const (
	budget       = 500 * time.Millisecond
	matchTimeout = 250 * time.Millisecond
)

var (
	errSlow  = errors.New("the match took longer than 250 ms and was given up")
	errSpent = errors.New("the time for judging this output was spent before this rule was reached")
)

// A meter bounds the work of one call. It starts its clock when it is first asked.
type meter struct {
	ctx      context.Context // ends the call early; kept because the code between is not ours
	deadline time.Time
}

func newMeter() *meter { return &meter{ctx: context.Background()} }

// check returns an error once the call has had its time or its context is done.
func (m *meter) check() error {
	if err := context.Cause(m.ctx); err != nil {
		return err
	}
	now := time.Now()
	if m.deadline.IsZero() {
		m.deadline = now.Add(budget)
	}
	if now.After(m.deadline) {
		return errSpent
	}
	return nil
}
