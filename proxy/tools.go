package proxy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/habits"
	"github.com/mcp-workbench/workbench/internal/nearest"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// callTool routes a tools/call: to the server whose exposed name it is, or to
// a meta tool.
func (s *session) callTool(c *call) {
	name, ok := wire.Unquote(c.Bytes(c.name))
	if !ok {
		c.fail(&wire.Error{Code: wire.CodeInvalidParams, Message: "params.name is missing or not a string"})
		return
	}
	s.mu.Lock()
	to, ok := s.routes.tools[name]
	first := to.added && c.modern == nil && !s.habit.Calls
	s.mu.Unlock()
	if first {
		s.seen(func(h *habits.Habit) { h.Calls = true })
	}
	switch {
	case ok:
		s.forward(c, to.server, wire.Edit{Span: c.name, New: to.name})
	case !s.p.isMeta(name) && len(s.unsettled()) > 0:
		s.callUnlisted(c, name)
	case !s.p.isMeta(name):
		c.fail(s.noTool(name))
	case name == openTool || name == openToolLater:
		s.openToolbox(c)
	case name == statusTool:
		s.tellStatus(c)
	default:
		s.useTool(c)
	}
}

// noTool says that no tool has that name.
func (s *session) noTool(name string) error {
	return &wire.Error{Code: wire.CodeInvalidParams, Message: fmt.Sprintf("tool not found: %q%s", name, s.hint(name, toolNames))}
}

// callUnlisted makes a call that came before the toolboxes were opened which
// are open without being asked for: clients that know a tool from before need
// not list it first.
func (s *session) callUnlisted(c *call, name string) {
	f := s.own(c)
	if f == nil {
		return
	}
	later := c.own()
	go func() {
		s.openMarked(f.ctx)
		s.mu.Lock()
		to, ok := s.routes.tools[name]
		s.mu.Unlock()
		if !ok {
			f.fail(s.noTool(name))
			return
		}
		f.send(later, to.server, wire.Edit{Span: later.name, New: to.name})
	}()
}

// hint says which known names are like one that is not known.
func (s *session) hint(name string, known func(*routes) []string) string {
	s.mu.Lock()
	names := known(s.routes)
	s.mu.Unlock()
	near := nearest.Names(name, names, 3)
	if near == nil {
		switch {
		case s.p.direct() && s.view.Load().direct == nil:
			return fmt.Sprintf("; toolbox %q, which this client is served, is in the configuration no longer", s.p.opts.Direct)
		case s.p.direct():
			return ""
		}
		return "; open a toolbox with " + openTool + " first, or see its result for the names"
	}
	return "; did you mean " + strings.Join(quoted(near), ", ") + "?"
}

func toolNames(r *routes) []string   { return keys(r.tools) }
func promptNames(r *routes) []string { return keys(r.prompts) }

func keys(m map[string]route) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func quoted(names []string) []string {
	q := make([]string, len(names))
	for i, n := range names {
		q[i] = fmt.Sprintf("%q", n)
	}
	return q
}
