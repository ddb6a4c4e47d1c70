package proxy

import (
	"context"
	"encoding/json"

	"github.com/mcp-workbench/workbench/internal/habits"
)

// client names the client of a session as it is remembered.
func (s *Session) clientLocked() (who habits.Client) {
	if s.client != nil {
		// One that names itself in no readable way is nobody.
		_ = json.Unmarshal(s.client.Info, &who)
	}
	return who
}

// recallHabit takes over what other sessions saw of the client, once, unless
// this one has seen better.
func (s *Session) recallHabit() {
	memory := s.p.opts.Clients
	s.mu.Lock()
	who := s.clientLocked()
	known := memory == nil || s.recalled
	s.recalled = true
	s.mu.Unlock()
	if known {
		return
	}
	habit := memory.Recall(who)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.habit.Calls = s.habit.Calls || habit.Calls
	if !s.habit.Relists && !s.habit.Ignores {
		s.habit.Relists, s.habit.Ignores = habit.Relists, habit.Ignores
	}
}

// seen notes something of the client's habit and keeps it for other sessions.
func (s *Session) seen(change func(*habits.Habit)) {
	s.mu.Lock()
	before := s.habit
	change(&s.habit)
	now, who := s.habit, s.clientLocked()
	s.mu.Unlock()
	if memory := s.p.opts.Clients; memory != nil && now != before {
		// What was seen last is kept too: the end of the session waits for it.
		s.begin(func(ctx context.Context) { memory.Remember(context.WithoutCancel(ctx), who, now) })
	}
}
