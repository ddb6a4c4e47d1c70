package commandsrv

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// live is the workflow as it is now: it changes while it is served. A turn does not, and keeps what it began with.
type live struct {
	now   atomic.Pointer[served]
	renew func(ctx context.Context) *command.Engine // Options.Refresh

	renewing sync.Mutex // held from asking renew until what it returns is served
}

// served is what a server serves at a time.
type served struct {
	engine  *command.Engine
	version string // whether its commands are the same as before
}

func (l *live) take(engine *command.Engine) { l.now.Store(&served{engine, version(engine.Workflow())}) }

// commands are the workflow that is served now.
func (l *live) commands() *command.Workflow { return l.now.Load().engine.Workflow() }

// refresh takes over a workflow that was edited. While that is looked for, what was served goes on for all others.
func (l *live) refresh(ctx context.Context) {
	if l.renew == nil || !l.renewing.TryLock() {
		return
	}
	defer l.renewing.Unlock()
	if engine := l.renew(ctx); engine != nil {
		l.take(engine)
	}
}

// version tells one state of a workflow from another by what its commands do.
func version(w *command.Workflow) string {
	h := sha256.New()
	for _, c := range w.Commands {
		fmt.Fprintf(h, "%s\x00%s\x00%s\x00%s\x00", c.Name, c.Description, c.Effect, c.Schema)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// A standing is where a conversation stands: what its next turn goes on from.
type standing struct {
	Path command.Path `json:"path,omitempty"`
	// Question waits for an answer, which is that of Pending by the assistant, or that of Agent.
	Question string           `json:"question,omitempty"`
	Asked    string           `json:"asked,omitempty"` // the turn that asked it
	Pending  *command.Pending `json:"pending,omitempty"`
	Agent    json.RawMessage  `json:"agent,omitempty"`
}

// about reports whether the question that waits is about a command.
func (now standing) about(name *string) bool {
	return now.Pending != nil && name != nil && now.Pending.Action.CommandName == *name
}

// standingOf reads it. Of a path that the workflow does not have any more it is the part that is left, and the question
// is dropped.
func standingOf(c store.Conversation, w *command.Workflow) standing {
	var now standing
	if len(c.State) > 0 && json.Unmarshal(c.State, &now) != nil {
		return standing{} // of another workbench: at the top one can go on
	}
	kept, whole := w.Resume(now.Path)
	if !whole {
		return standing{Path: kept}
	}
	return now
}

func samePath(a, b command.Path) bool {
	return slices.EqualFunc(a, b, func(a, b command.Place) bool { return string(wire.MustEncode(a)) == string(wire.MustEncode(b)) })
}
