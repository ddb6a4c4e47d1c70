package proxy

import (
	"github.com/mcp-workbench/workbench/internal/habits"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/meta"
	"github.com/mcp-workbench/workbench/toolbox"
)

// callTool routes a tools/call: to the server whose exposed name it is, or to a meta tool.
func (s *Session) callTool(c *call) {
	name, ok := toolName(c.Bytes(c.Name))
	if !ok {
		c.fail(&wire.Error{Code: wire.CodeInvalidParams, Message: "params.name is missing or not a string"})
		return
	}
	to, first, err := s.caller.named(c, name)
	var own func(*Session, *call)
	if err != nil {
		own = s.ownTool(name)
	}
	waits := err != nil && own == nil && (len(s.shelf.Unsettled()) > 0 || installs(s.shelf, name) != nil)
	if err != nil && !waits { // it may have come just now
		to, first, err = s.caller.named(c, name)
	}
	if first {
		s.profile.seen(func(h *habits.Habit) { h.Calls = true })
	}
	switch {
	case err == nil && to.Dormant:
		s.caller.wakeAndCall(c, name, to.Server)
	case err == nil && to.Server.Asks(to.Name):
		if f := s.desk.own(c); f != nil {
			s.caller.callAs(f, c.own(), to)
		}
	case err == nil && s.desk.turns.waited(of(to.Server)):
		whose := to
		s.desk.inTurn(c, whose.Server, func(f *flight, later *call) { s.caller.callAs(f, later, whose) })
	case err == nil:
		if f := s.desk.take(c); f != nil {
			s.caller.callAs(f, c, to)
		}
	case waits:
		s.caller.callUnlisted(c, name)
	case isHeld(err):
		s.desk.refuse(c, name, err)
	case own != nil:
		own(s, c)
	case s.caller.callFromApp(c, name):
	case s.caller.callUnopened(c, name):
	default:
		s.desk.refuse(c, name, notMeant(s.shelf, toolbox.Tools, name, err))
	}
}

// toolName reads the name of a tool. For the one that most calls name nothing is allocated.
func toolName(token []byte) (string, bool) {
	if string(token) == `"`+meta.UseTool+`"` {
		return meta.UseTool, true
	}
	return wire.Unquote(token)
}

// ownTools say what each of workbench's own tools does.
func ownTools() [6]ownTool {
	return [...]ownTool{
		{meta.UseTool, func(s *Session, c *call) { s.caller.useTool(c) }},
		{meta.OpenTool, func(s *Session, c *call) { s.opener.openToolbox(s.ownTasks.orTask(c)) }},
		{meta.FindTool, func(s *Session, c *call) { s.finder.answer(c) }},
		{meta.StatusTool, func(s *Session, c *call) { tellStatus(s.desk, s.shelf, s.considering, c) }},
		{meta.ReadTool, func(s *Session, c *call) { readResult(s.desk, c) }},
		{meta.ScriptTool, func(s *Session, c *call) { s.scripts.answer(s.ownTasks.orTask(c)) }},
	}
}

type ownTool struct {
	name string
	run  func(*Session, *call)
}

// ownTool returns what the tool of a name does, if it is one of workbench's own that the client has; else nil.
func (s *Session) ownTool(name string) func(*Session, *call) {
	if !s.shelf.View().HasMeta(name) {
		return nil
	}
	name = meta.Canonical(name)
	for _, t := range ownTools() {
		if t.name == name {
			return t.run
		}
	}
	return nil
}
