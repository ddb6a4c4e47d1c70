package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mcp-workbench/workbench/internal/habits"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// relistWait is how long the result of an open waits for the client to list
// its tools again: clients that do so offer the new tools on the very next turn.
// One that did not do so the last time, in this session or the one before, is not
// waited for again.
const relistWait = time.Second

// openToolbox starts the servers of a toolbox and answers with their tools.
func (s *session) openToolbox(c *call) {
	f := s.own(c)
	if f == nil {
		return
	}
	var out [2]wire.Span
	if !c.args.Present() || wire.Find(c.Raw, c.args, []string{"toolbox_name", "toolbox"}, out[:]) != nil {
		f.fail(fmt.Errorf("%s needs arguments with toolbox_name; %s", openTool, available(s.cfg(), "")))
		return
	}
	name, ok := wire.Unquote(c.Bytes(out[0]))
	if !ok {
		if name, ok = wire.Unquote(c.Bytes(out[1])); !ok {
			f.fail(fmt.Errorf("%s needs toolbox_name, a string; %s", openTool, available(s.cfg(), "")))
			return
		}
	}
	b, err := s.box(name)
	if err != nil {
		f.fail(err)
		return
	}
	go s.openAndTell(f, b)
}

// result is what workbench_open_toolbox answers.
type result struct {
	Toolbox     string            `json:"toolbox"`
	Description string            `json:"description"`
	Connected   int               `json:"servers_connected"`
	HowToCall   string            `json:"how_to_call,omitempty"`
	Servers     []serverResult    `json:"servers"`
	Tools       []json.RawMessage `json:"tools"`
}

type serverResult struct {
	Name  string        `json:"name"`
	State toolbox.State `json:"state"`
	Tools int           `json:"tools"`
	// ToolsSeen is when they were seen, if that was in another run.
	ToolsSeen string   `json:"tools_seen,omitempty"`
	Error     string   `json:"error,omitempty"`
	Notes     []string `json:"notes,omitempty"`
}

// openAndTell opens a toolbox for the client: servers first, then the news of
// the changed lists, then, when the client has read them, the result.
func (s *session) openAndTell(f *flight, b *box) {
	if f.modern == nil {
		s.recallHabit()
	}
	listed, err := s.openBox(f.ctx, b, true)
	if err != nil {
		f.fail(err)
		return
	}
	if listed != nil {
		s.awaitListing(f.ctx, listed)
	}
	f.reply(s.opened(b, f.modern != nil))
}

// awaitListing waits until the client has read its tools, if it may, and notes
// whether it did. Of one that ends its input it cannot be known.
func (s *session) awaitListing(ctx context.Context, listed <-chan struct{}) {
	s.mu.Lock()
	ignores := s.habit.Ignores
	s.mu.Unlock()
	if ignores {
		return
	}
	wait := time.NewTimer(relistWait)
	defer wait.Stop()
	select {
	case <-listed:
		s.seen(func(h *habits.Habit) { h.Relists, h.Ignores = true, false })
	case <-wait.C:
		s.seen(func(h *habits.Habit) { h.Relists, h.Ignores = false, true })
	case <-s.leaving:
	case <-ctx.Done():
	}
}

// howToCall tells the model which way its client can call the tools.
func (s *session) howToCall(b *box, modern bool) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.isMarked(b.Name):
		return "The tools are listed: call them by exposed_name, or through " + useTool + " with toolbox_name and tool_name."
	case modern || !s.shows(b, toolbox.Tools, legacyEra) || s.habit.Ignores:
		return "Call the tools through " + useTool + " with toolbox_name and tool_name."
	case s.habit.Calls:
		return "The tools were added to your list: call them by exposed_name."
	default:
		return "The tools were added to your list: call them by exposed_name. If they are not offered to you, call them through " + useTool + " with toolbox_name and tool_name."
	}
}

// opened makes the result of an open: the same content as text and as
// structured content. It is an error only if no server at all could be started.
func (s *session) opened(b *box, modern bool) []byte {
	r := result{Toolbox: b.Name, Description: describe(b.content.Load().description), Servers: []serverResult{}, Tools: []json.RawMessage{}}
	r.HowToCall = s.howToCall(b, modern)
	s.mu.Lock()
	exposed := s.routes.exposed
	s.mu.Unlock()
	starting := 0
	for _, srv := range b.Servers() {
		st := srv.Status()
		switch st.State {
		case toolbox.Ready:
			r.Connected++
		case toolbox.Starting:
			starting++
		}
		r.Servers = append(r.Servers, describeServer(srv, st))
		for _, it := range srv.Items(toolbox.Tools) {
			r.Tools = append(r.Tools, describeTool(it, exposed[identity{srv, it.Key}]))
		}
	}
	body := encode(r)
	out := []byte{'{'}
	if modern {
		out = append(out, `"resultType":"complete",`...)
	}
	out = append(out, `"content":[{"type":"text","text":`...)
	out = wire.AppendQuote(out, string(body))
	out = append(append(out, `}],"structuredContent":`...), body...)
	if len(r.Servers) > 0 && r.Connected == 0 && starting == 0 {
		out = append(out, `,"isError":true`...)
	}
	return append(out, '}')
}

// describeServer says where a server stands. One that is starting and was seen
// before is no trouble: its tools can be called, and the calls wait.
func describeServer(srv *toolbox.Server, st toolbox.Status) serverResult {
	one := serverResult{Name: srv.Name, State: st.State, Tools: st.Tools, Notes: srv.Notes()}
	starting := st.State == toolbox.Starting
	switch {
	case st.State == toolbox.Ready:
	case starting && st.Seen.IsZero():
		one.Error = "still starting, " + st.Explain() + "; open the toolbox again to see its tools"
	case !starting || st.Cause != nil:
		one.Error = st.Explain()
	}
	if !st.Seen.IsZero() {
		one.ToolsSeen = st.Seen.UTC().Format(time.RFC3339)
		note := "its tools are those last seen " + st.LastSeen()
		if starting {
			note = "starting; " + note + ", and calls wait until it is ready"
		}
		one.Notes = append(one.Notes, note)
	}
	return one
}

// encode gives the JSON of one of our own values, with text as it is.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		// What is raw in them was checked when it was read.
		panic("a value of ours cannot be encoded: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// describeTool gives the parts of a tool's definition that a model needs, as
// the server wrote them.
func describeTool(it toolbox.Item, exposed string) json.RawMessage {
	out := wire.AppendQuote([]byte(`{"name":`), it.Key)
	out = wire.AppendQuote(append(out, `,"server":`...), it.Server.Name)
	out = wire.AppendQuote(append(out, `,"toolbox":`...), it.Server.Toolbox)
	out = wire.AppendQuote(append(out, `,"exposed_name":`...), exposed)
	var parts [4]wire.Span
	names := []string{"description", "inputSchema", "outputSchema", "annotations"}
	if wire.Find(it.Raw, wire.Span{Start: 0, End: len(it.Raw)}, names, parts[:]) == nil {
		for i, p := range parts {
			if p.Present() {
				out = append(out, `,"`+names[i]+`":`...)
				out = append(out, it.Raw[p.Start:p.End]...)
			}
		}
	}
	return append(out, '}')
}
