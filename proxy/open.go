package proxy

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/habits"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/meta"
	"github.com/mcp-workbench/workbench/proxy/shelf"
)

// relistWait is how long the result of an open waits for the client to list
// its tools again: clients that do so offer the new tools on the very next turn.
// One that did not do so the last time, in this session or the one before, is not
// waited for again.
const relistWait = time.Second

// openToolbox starts the servers of a toolbox and answers with their tools.
func (s *Session) openToolbox(c *call) {
	f := s.desk.ownAndNarrate(c)
	if f == nil {
		return
	}
	q, err := s.readOpen(c)
	if err != nil {
		f.fail(err)
		return
	}
	b, err := s.shelf.Box(q.toolbox)
	if err != nil {
		f.fail(err)
		return
	}
	f.narrate(b.Servers()...)
	f.serve(func() { s.openAndTell(f, b, q) })
}

// readOpen reads the arguments of workbench_open_toolbox.
func (s *Session) readOpen(c *call) (q question, err error) {
	var out [4]wire.Span
	if !c.Args.Present() || wire.Find(c.Raw, c.Args, []string{"toolbox_name", "toolbox", "detail", "tools"}, out[:]) != nil {
		return q, fmt.Errorf("%s needs arguments with toolbox_name; %s", meta.OpenTool, s.shelf.View().Available(""))
	}
	ok := false
	for _, name := range out[:2] {
		if !ok {
			q.toolbox, ok = wire.Unquote(c.Bytes(name))
			q.toolbox = strings.TrimSpace(q.toolbox) // no toolbox has white space around its name
		}
	}
	if !ok {
		return q, fmt.Errorf("%s needs toolbox_name, a string; %s", meta.OpenTool, s.shelf.View().Available(""))
	}
	if out[2].Present() {
		text, _ := wire.Unquote(c.Bytes(out[2]))
		if q.detail, ok = detailOf(text); !ok {
			return q, fmt.Errorf("%s: detail is one of %s", meta.OpenTool, strings.Join(foreign.Quoted(meta.Details()), ", "))
		}
	}
	if out[3].Present() {
		if q.tools, ok = readNames(c, out[3]); !ok {
			return q, fmt.Errorf("%s: tools is a list of 1 to %d strings", meta.OpenTool, maxPatterns)
		}
	}
	return q, nil
}

// readNames reads a list of strings, or one string.
func readNames(c *call, at wire.Span) (names []string, ok bool) {
	if one, ok := wire.Unquote(c.Bytes(at)); ok {
		return []string{one}, true
	}
	for e := range wire.Elements(c.Raw, at) {
		name, ok := wire.Unquote(c.Bytes(e))
		if !ok {
			return nil, false
		}
		names = append(names, name)
	}
	return names, len(names) > 0 && len(names) <= maxPatterns
}

// openAndTell opens a toolbox for the client: servers first, then the news of
// the changed lists, then, when the client has read them, the result.
func (s *Session) openAndTell(f *flight, b *shelf.Box, q question) {
	if f.modern == nil {
		s.profile.recallHabit()
	}
	listed, err := s.shelf.Open(f.ctx, b, true)
	if err != nil {
		f.fail(err)
		return
	}
	if listed != nil {
		s.awaitListing(f.ctx, listed)
	}
	f.reply(s.opened(b, q, f.modern))
}

// awaitListing waits until the client has read its tools, if it may, and notes
// whether it did. Of one that ends its input it cannot be known.
func (s *Session) awaitListing(ctx context.Context, listed <-chan struct{}) {
	if s.profile.known().habit.Ignores {
		return
	}
	wait := time.NewTimer(relistWait)
	defer wait.Stop()
	select {
	case <-listed:
		s.profile.seen(func(h *habits.Habit) { h.Relists, h.Ignores = true, false })
	case <-wait.C:
		s.profile.seen(func(h *habits.Habit) { h.Relists, h.Ignores = false, true })
	case <-s.leaving:
	case <-ctx.Done():
	}
}

// howToCall tells the model which way its client can call the tools; example is
// the exposed name of one.
func (s *Session) howToCall(b *shelf.Box, modern bool, example string) string {
	through := fmt.Sprintf("through %s with toolbox_name %q and tool_name", meta.UseTool, b.Name)
	byName := fmt.Sprintf("by exposed_name, such as %q", example)
	switch {
	case s.shelf.Shows(b, shelf.Modern):
		return fmt.Sprintf("The tools are listed: call them %s, or %s.", byName, through)
	case modern || !s.shelf.Shows(b, shelf.Legacy) || s.profile.known().habit.Ignores:
		return fmt.Sprintf("Call the tools %s.", through)
	case s.profile.known().habit.Calls:
		return fmt.Sprintf("The tools were added to your list: call them %s.", byName)
	default:
		return fmt.Sprintf("The tools were added to your list: call them %s. If they are not offered to you, call them %s.", byName, through)
	}
}
