package criteria

import (
	"testing"
	"time"
)

// The wait for another call that is judged by the same schema is not charged.
func TestWaitForASchema(t *testing.T) {
	t.Parallel()
	s, err := compileSchema(map[string]any{"type": "array"})
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	time.AfterFunc(2*matchTimeout, s.mu.Unlock)
	m := &meter{ctx: t.Context(), asked: time.Now(), spent: budget - matchTimeout}
	if faults, err := s.run([]any{}, m); faults != nil || err != nil {
		t.Errorf("got %v, %v, want it valid", faults, err)
	}
	if err := m.check(); err != nil {
		t.Errorf("got %v after %s spent, want the time not charged", err, m.spent)
	}
}
