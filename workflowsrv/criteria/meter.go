package criteria

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/dlclark/regexp2"
)

// budget is the time that the regular expressions and JSON Schemas of one call may spend together; matchTimeout is what
// one match of an output may, and testTimeout one of a variable, which is short. The clock of regexp2 ticks every tick,
// and a match ends at the latest two ticks after its time-out: a call that is cancelled ends within 100 ms.
const (
	budget       = 500 * time.Millisecond
	matchTimeout = 250 * time.Millisecond
	testTimeout  = 70 * time.Millisecond
	tick         = 10 * time.Millisecond
)

// errSpent is that of a call that has had its time.
var errSpent = fmt.Errorf("the %d ms that all matches of one call may take together are used up", budget.Milliseconds())

// setTick sets the clock of regexp2, which is one for the whole program.
var setTick = sync.OnceFunc(func() { regexp2.SetTimeoutCheckPeriod(tick) })

// A meter bounds the work of one call. It starts its clock when it is first asked. Between two questions lies a match
// at most: what takes longer is a machine that does something else, and counts as one.
type meter struct {
	ctx   context.Context // ends the call early; kept because the code between is not ours
	asked time.Time       // the last time
	spent time.Duration
}

// check returns an error once the call has had its time or its context is done.
func (m *meter) check() error {
	if err := context.Cause(m.ctx); err != nil {
		return err
	}
	now := time.Now()
	if !m.asked.IsZero() {
		m.spent += min(now.Sub(m.asked), matchTimeout)
	}
	if m.asked = now; m.spent >= budget {
		return errSpent
	}
	return nil
}
