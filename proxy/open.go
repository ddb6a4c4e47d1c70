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

// relistWait is how long the result of an open waits for the client to list its tools again: clients that do so offer
// the new tools on the very next turn. One that did not do so the last time, in this session or the one before, is not
// waited for again.
const relistWait = time.Second

// opener opens toolboxes for a client, and tells it of their tools.
type opener struct {
	desk    *desk
	shelf   *shelf.Shelf
	leaving <-chan struct{} // is closed when nothing more comes from the client
}

// openToolbox starts the servers of a toolbox and answers with their tools.
func (o *opener) openToolbox(c *call) {
	f := o.desk.ownAndNarrate(c)
	if f == nil {
		return
	}
	q, err := readOpen(c, o.shelf.View())
	if err != nil {
		f.fail(err)
		return
	}
	b, err := o.shelf.Box(q.toolbox)
	if err != nil {
		f.fail(err)
		return
	}
	f.narrate(b.Servers()...)
	f.serve(func() { o.openAndTell(f, b, q) })
}

// readOpen reads the arguments of workbench_open_toolbox.
func readOpen(c *call, v *shelf.View) (q question, err error) {
	var out [4]wire.Span
	if c.findArgs(c.Args, []string{"toolbox_name", "toolbox", "detail", "tools"}, out[:]) != nil {
		return q, fmt.Errorf("%s needs arguments with toolbox_name; %s", meta.OpenTool, v.Available(""))
	}
	ok := false
	for _, name := range out[:2] {
		if !ok {
			q.toolbox, ok = wire.Unquote(c.Bytes(name))
			q.toolbox = strings.TrimSpace(q.toolbox) // no toolbox has white space around its name
		}
	}
	if !ok {
		return q, fmt.Errorf("%s needs toolbox_name, a string; %s", meta.OpenTool, v.Available(""))
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
	return names, c.Raw[at.Start] == '[' && len(names) <= maxPatterns
}

// openAndTell opens a toolbox for the client: servers first, then the news of the changed lists, then, when the client
// has read them, the result.
func (o *opener) openAndTell(f *flight, b *shelf.Box, q question) {
	if f.terms.ListsMayChange() {
		o.desk.profile.recallHabit()
	}
	listed, err := o.shelf.Open(f.ctx, b, true)
	if err != nil {
		f.fail(err)
		return
	}
	if listed != nil {
		o.awaitListing(f.ctx, listed)
	}
	f.reply(opened(o.shelf, o.desk.profile.known().habit, b, q, &f.terms))
}

// awaitListing waits until the client has read its tools, if it may, and notes whether it did. Of one that ends its
// input it cannot be known.
func (o *opener) awaitListing(ctx context.Context, listed <-chan struct{}) {
	if o.desk.profile.known().habit.Ignores {
		return
	}
	wait := time.NewTimer(relistWait)
	defer wait.Stop()
	select {
	case <-listed:
		o.desk.profile.seen(func(h *habits.Habit) { h.Relists, h.Ignores = true, false })
	case <-wait.C:
		o.desk.profile.seen(func(h *habits.Habit) { h.Relists, h.Ignores = false, true })
	case <-o.leaving:
	case <-ctx.Done():
	}
}

// howToCall tells the model which way its client can call the tools; example is the exposed name of one.
func howToCall(sh *shelf.Shelf, habit habits.Habit, b *shelf.Box, changing bool, example string) string {
	through := fmt.Sprintf("through %s with toolbox_name %q and tool_name", meta.UseTool, b.Name)
	byName := fmt.Sprintf("by exposed_name, such as %q", example)
	switch {
	case sh.Shows(b, false):
		return fmt.Sprintf("The tools are listed: call them %s, or %s.", byName, through)
	case !changing || !sh.Shows(b, true) || habit.Ignores:
		return fmt.Sprintf("Call the tools %s.", through)
	case habit.Calls:
		return fmt.Sprintf("The tools were added to your list: call them %s.", byName)
	default:
		return fmt.Sprintf("The tools were added to your list: call them %s. If they are not offered to you, call them %s.", byName, through)
	}
}
