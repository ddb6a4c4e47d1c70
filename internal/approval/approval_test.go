package approval_test

import (
	"errors"
	"fmt"
	"strings"
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

// A person sees what a tool is called with, however it is written, or that there is more.
func TestArgumentsAreLegible(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for _, tt := range []struct {
		name, raw, want string
		cut             bool
	}{
		{"as it is", `{"a":1.50,"b":[true,null,"\n\"\\"]}`, `{"a":1.50,"b":[true,null,"\n\"\\"]}`, false},
		{"out of sight", `{"a":1,` + strings.Repeat(" \r\n\t", 2000) + `"command":"rm -rf /"}`, `{"a":1,"command":"rm -rf /"}`, false},
		{"letters by their numbers", `{"\u0063ommand":"\u0072\u006d \u002drf \/\u00e9\ud83d\ude00"}`, `{"command":"rm -rf /é😀"}`, false},
		{"hidden characters", "{\"a\":\"\u202e\u200b\\u2066\"}", `{"a":"\u202e\u200b\u2066"}`, false},
		{"twice", `{"a":1,"a":2}`, `{"a":1,"a":2}`, false},
		{"long", `{"a":"` + long + `","b":1}`, `{"a":"` + long[:3994], true},
		{"long for its hidden characters", `{"a":"` + strings.Repeat("\u200b", 1000) + `","b":1}`, `{"a":"` + strings.Repeat(`\u200b`, 665) + `\u20`, true},
		{"cut in a letter", `{"a":"1` + strings.Repeat("é", 3000) + `"}`, `{"a":"1` + strings.Repeat("é", 1996), true},
	} {
		c := approval.NewCall("box", "server", "tool", []byte(tt.raw))
		if c.Arguments != tt.want || c.Cut != tt.cut || c.Bytes != len(tt.raw) {
			t.Errorf("%s: got %q of %d bytes, cut %t, want %q, %t", tt.name, c.Arguments, c.Bytes, c.Cut, tt.want, tt.cut)
		}
		if more := strings.HasSuffix(c.Text(), fmt.Sprintf(" … (the beginning of %d bytes)", len(tt.raw))); more != tt.cut {
			t.Errorf("%s: got %q", tt.name, c.Text())
		}
	}
}
