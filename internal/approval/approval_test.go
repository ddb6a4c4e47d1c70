package approval_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/internal/approval"
)

// What a person answers at the very end of the time either counts or is refused: who answered and who asked hear the
// same.
func TestAnswerAtTheLastMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 100 {
			r := approval.New("")
			took := make(chan bool, 1)
			go func() {
				time.Sleep(approval.Patience)
				took <- r.Answer("1", true)
			}()
			err := r.Ask(t.Context(), approval.NewCall("box", "server", "tool", nil))
			var refused *approval.Refused
			if agreed := <-took; agreed != (err == nil) || !agreed && (!errors.As(err, &refused) || !refused.Late) {
				t.Errorf("the answer was taken: %v, and who asked got %v", agreed, err)
			}
		}
	})
}
