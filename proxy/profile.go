package proxy

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/habits"
	"github.com/mcp-workbench/workbench/toolbox"
)

// profile is who the client of a session is, and how it behaves. What is known is read without a lock: it is replaced
// and never changed.
type profile struct {
	memory *habits.Memory // of earlier sessions; nil remembers nothing
	begin  func(func(context.Context))

	mu       sync.Mutex // of those who replace what is known
	recalled bool       // the habit has what earlier sessions saw
	now      atomic.Pointer[known]
}

// known is what is known of a client.
type known struct {
	client *toolbox.Client // nil before the client said who it is
	name   string          // as the client calls itself
	era    eras.Era        // of a client with a handshake, once it has made it, whatever else it sends
	level  string          // of log lines, set by logging/setLevel
	habit  habits.Habit
}

func newProfile(memory *habits.Memory, begin func(func(context.Context))) *profile {
	p := &profile{memory: memory, begin: begin}
	p.now.Store(new(known))
	return p
}

// known gives what is known of the client at this moment.
func (p *profile) known() *known { return p.now.Load() }

// greeted reports whether the client has introduced itself by initialize.
func (p *profile) greeted() bool { return p.known().era.HasHandshake() }

// change replaces what is known, and gives it as it was and as it is.
func (p *profile) change(change func(*known)) (before, now *known) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before = p.now.Load()
	next := *before
	change(&next)
	p.now.Store(&next)
	return before, &next
}

// introduce notes who the client is, the first time that it says so; initialize counts more than metadata.
func (p *profile) introduce(c toolbox.Client, e eras.Era) {
	p.change(func(k *known) {
		if k.client == nil || e.HasHandshake() && !k.era.HasHandshake() {
			k.client, k.era, k.name = &c, e, nameIn(c.Info)
		}
	})
}

// nameIn is the name in what a client says of itself.
func nameIn(info []byte) string {
	var said struct{ Name foreign.Name }
	_ = json.Unmarshal(info, &said) // a client that does not say has no name
	return said.Name.String()
}

// remembered names the client as it is remembered.
func (k *known) remembered() (who habits.Client) {
	if k.client != nil {
		// A client that names itself in no readable way is nobody.
		_ = json.Unmarshal(k.client.Info, &who)
	}
	return who
}

// recallHabit takes over what earlier sessions saw of the client, once, unless this session has seen better.
func (p *profile) recallHabit() {
	p.mu.Lock()
	again := p.memory == nil || p.recalled
	p.recalled = true
	p.mu.Unlock()
	if again {
		return
	}
	habit := p.memory.Recall(p.known().remembered())
	p.change(func(k *known) {
		k.habit.Calls = k.habit.Calls || habit.Calls
		if !k.habit.Relists && !k.habit.Ignores {
			k.habit.Relists, k.habit.Ignores = habit.Relists, habit.Ignores
		}
	})
}

// seen notes something of the client's habit and keeps it for later sessions.
func (p *profile) seen(change func(*habits.Habit)) {
	before, now := p.change(func(k *known) { change(&k.habit) })
	if p.memory != nil && now.habit != before.habit {
		// What was seen last is kept too: the end of the session waits for it.
		p.begin(func(ctx context.Context) { p.memory.Remember(context.WithoutCancel(ctx), now.remembered(), now.habit) })
	}
}

// fillsForms reports whether the legacy client shows forms to its user.
func (k *known) fillsForms() bool {
	return k.client != nil && k.era.HasHandshake() && len(k.client.Capabilities) > 0 && canFill(k.client.Capabilities)
}

// linksSince is the first revision that has links to resources in the results of tools.
const linksSince = "2025-06-18"

// knowsLinks reports whether the client knows links to resources in results.
func (k *known) knowsLinks() bool { return k.client != nil && k.client.Version >= linksSince }

// canFill reports whether a client shows forms to its user, by its capabilities.
func canFill(capabilities []byte) bool {
	return eras.Lacking(capabilities, "elicitation/create", nil) == ""
}
