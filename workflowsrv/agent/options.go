package agent

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/model"
)

// Model answers requests; a [model.Client] is one.
type Model interface {
	Complete(ctx context.Context, r model.Request) (*model.Reply, error)
}

// Options bound what one instruction may cost; see [Agent.Run]. Zero is the default of each.
type Options struct {
	Tokens int              // of all requests and replies together; 1,000,000
	Calls  int              // of commands; 60
	Time   time.Duration    // until it ends, without what the user takes to answer a later call; 15 minutes
	Now    func() time.Time // the clock; time.Now
}

// Bounds of one instruction.
const (
	maxRounds    = 25        // replies of the model
	maxPlans     = 6         // plans, the first included
	maxFaults    = 3         // rounds on end that bring nothing
	maxCalls     = 5         // calls carried out of one reply
	maxSame      = 3         // the same call, of which the last is not made
	maxTools     = 64        // commands offered as tools; where there are more, one tool takes them all
	maxArguments = 64 << 10  // of one call, in bytes
	maxResult    = 16 << 10  // of the result of a command that the model sees, in bytes
	maxSaid      = 160 << 10 // of the dialogue, besides the instructions
	maxListing   = 48 << 10  // of a list of commands in words
	maxPlan      = 8 << 10
	maxHistory   = 10 // earlier turns
	maxExchange  = 2 << 10
	maxArtifacts = 1 << 20 // of all commands together
)

// clip cuts a text to a length in bytes, and says so.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + fmt.Sprintf("… (%d more bytes)", len(s)-most)
}
