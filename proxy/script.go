package proxy

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/results"
	"github.com/mcp-workbench/workbench/internal/script"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/meta"
	"github.com/mcp-workbench/workbench/proxy/shelf"
)

// inScript says how the tools of a toolbox are called in a script; "" where there are none.
func inScript(v *shelf.View, toolbox string) string {
	if !v.HasMeta(meta.ScriptTool) {
		return ""
	}
	of := "tools.TOOLBOX.SERVER.TOOL"
	if toolbox != "" {
		of = "tools" + member(toolbox) + ".SERVER.TOOL"
	}
	return " In " + meta.ScriptTool + ": await " + of + "({parameter: value})."
}

// member is how a member of that name is written in a script.
func member(name string) string {
	for i, c := range name {
		if !(c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || i > 0 && '0' <= c && c <= '9') {
			return "[" + string(wire.AppendQuote(nil, name)) + "]"
		}
	}
	return "." + name
}

// maxScripts is how many scripts, each of which is a process, run for a session at a time.
const maxScripts = 4

// scripts runs the scripts of a client.
type scripts struct {
	desk    *desk
	run     *script.Host
	use     func(*call)   // makes a call as workbench_use_tool does
	pace    func() error  // refuses one too many; may be nil
	calls   atomic.Uint64 // that scripts have made
	running atomic.Int32
}

// answer answers workbench_run_script.
func (s *scripts) answer(c *call) {
	f := s.desk.own(c)
	if f == nil {
		return
	}
	var out [1]wire.Span
	if c.findArgs(c.Args, []string{"code"}, out[:]) != nil || !out[0].Present() {
		f.fail(fmt.Errorf("%s needs arguments with code: JavaScript that calls tools", meta.ScriptTool))
		return
	}
	code, ok := wire.Unquote(c.Bytes(out[0]))
	switch {
	case !ok:
		f.fail(fmt.Errorf("%s needs code, a string", meta.ScriptTool))
		return
	case s.run == nil:
		f.fail(errors.New("scripts cannot be run here"))
		return
	}
	r := &scriptRun{s: s, f: f, meta: bytes.Clone(c.Bytes(c.Meta)), token: bytes.Clone(c.Bytes(c.Token))}
	if s.running.Add(1) > maxScripts {
		s.running.Add(-1)
		f.fail(fmt.Errorf("%d scripts already run for this client: wait for one to end", maxScripts))
		return
	}
	f.serve(func() {
		defer s.running.Add(-1)
		outcome, err := s.run.Run(f.ctx, unfenced(code), r.call)
		if err != nil {
			f.fail(err)
			return
		}
		f.reply(f.scriptResult(outcome))
	})
}

// unfenced gives code without the fence that some models put around it, as in Markdown. Its lines keep their numbers.
func unfenced(code string) string {
	const fence = "```"
	rest, begins := strings.CutPrefix(strings.TrimSpace(code), fence)
	_, rest, more := strings.Cut(rest, "\n")
	inside, ends := strings.CutSuffix(rest, fence)
	if !begins || !more || !ends {
		return code
	}
	return "\n" + inside
}

// scriptResult is what the client gets of a script: its value and its console, or a preview of what is too large.
func (f *flight) scriptResult(o *script.Outcome) []byte {
	text, isText := wire.Unquote(o.Value)
	switch {
	case o.Fault != "":
		text = "the script failed: " + o.Fault
	case o.Value == nil:
		text = "the script returned nothing: write return before what you want to see"
	case !isText:
		text = string(o.Value)
	}
	texts := []string{text}
	if o.Console != "" {
		texts = append(texts, "console:\n"+o.Console)
	}
	if note := callsOf(o); note != "" {
		texts = append(texts, note)
	}
	result := textResult(f.terms.Era, texts...)
	if o.Fault != "" {
		result = result.True("isError")
	}
	out := result.End()
	short, err := f.by.shelf.Preview(out, wire.Whole(out), results.Wish{Over: config.DefaultLargeResult, Name: "the script", Links: f.by.links()})
	switch {
	case err != nil:
		return toolError(fmt.Sprintf("what the script returned is too large to show (%d bytes): return less", len(out)), f.terms.Era)
	case short != nil:
		return short
	}
	return out
}

// callsOf says which calls of a script were cut off by its end, or not made, and of a script that failed also which were
// answered: who runs it again makes these again.
func callsOf(o *script.Outcome) string {
	var said []string
	tell := func(calls []string, what string) {
		if calls != nil {
			said = append(said, fmt.Sprintf("%d %s (%s)", len(calls), what, tallied(calls)))
		}
	}
	if o.Fault != "" {
		tell(o.Answered, "were answered")
	}
	tell(o.Cut, "were cut off by its end, and whether they were carried out is unknown")
	tell(o.Left, "were not made")
	if said == nil {
		return ""
	}
	note := "workbench: of the calls of the script " + strings.Join(said, "; ")
	if o.Cut != nil || o.Left != nil {
		note += "; a script that is to end after its calls awaits each of them"
	}
	return note
}

// maxTallied is how many tools are named of which a script made calls.
const maxTallied = 5

// tallied names tools, and how often each.
func tallied(tools []string) string {
	times := make(map[string]int)
	var names []string
	for _, name := range tools {
		if times[name]++; times[name] == 1 {
			names = append(names, name)
		}
	}
	more := ""
	if len(names) > maxTallied {
		names, more = names[:maxTallied], " …"
	}
	for i, name := range names {
		names[i] = fmt.Sprintf("%s ×%d", foreign.NewName(name), times[name])
	}
	return strings.Join(names, ", ") + more
}

// scriptRun is a script that a client has asked for.
type scriptRun struct {
	s     *scripts
	f     *flight
	meta  []byte // of the client's request; its calls have the same
	token []byte // of the progress that the client wants to hear of

	mu   sync.Mutex // held while progress is told
	done int        // calls
}

// scriptScope begins the scopes of the calls of scripts, which no exchange has.
const scriptScope = 1 << 63

// call makes a call of the script, as workbench_use_tool makes one.
func (r *scriptRun) call(ctx context.Context, q script.Request) (json.RawMessage, error) {
	if len(q.Args) == 0 || q.Args[0] != '{' {
		return nil, errors.New("the arguments of a tool are an object")
	}
	s := r.s
	if s.pace != nil {
		if err := s.pace(); err != nil {
			return nil, err
		}
	}
	key := keyOf(scriptScope|s.calls.Add(1), "1")
	params := meta.CallParams(q.Toolbox, q.Server, q.Tool, q.Args)
	if r.meta != nil {
		params = params.Raw("_meta", r.meta)
	}
	m := new(wire.Message)
	if err := wire.Scan(wire.AppendRequest(nil, "1", "tools/call", params.End()), m); err != nil {
		return nil, fmt.Errorf("the arguments of the tool are refused: %s", text(err))
	}
	out := &scriptCall{to: r.f.out, answer: make(chan []byte, 1)}
	c, err := newCall(m, out, key.scope)
	if err != nil {
		return nil, err
	}
	s.use(c)
	select {
	case reply := <-out.answer:
		r.tell()
		return answerOf(reply)
	case <-ctx.Done():
		s.desk.requests.abandon(key)
		return nil, context.Cause(ctx)
	}
}

// tell tells the client how many calls were made, if it wants to hear of progress.
func (r *scriptRun) tell() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done++
	if r.token == nil || r.f.over.Load() || r.f.out.Behind() {
		return
	}
	r.f.out.Message(progress(r.token, strconv.AppendInt(nil, int64(r.done), 10), ""))
}

// scriptCall is the outlet of a call of a script. What a server asks meanwhile goes to the client.
type scriptCall struct {
	to     Outlet
	answer chan []byte // nil if the request ended without one
}

func (o *scriptCall) Message(msg []byte) {
	var m wire.Message
	if wire.Scan(msg, &m) == nil && !m.IsMethod("notifications/progress") { // of which the script tells
		o.to.Message(msg)
	}
}

func (o *scriptCall) Behind() bool { return o.to.Behind() }

// From implements Outlet.
func (o *scriptCall) From() Origin {
	from := o.to.From()
	from.Script = true
	return from
}

func (o *scriptCall) Finish(reply []byte) { o.answer <- bytes.Clone(reply) }

// answerOf gives what a script gets of the reply to a call.
func answerOf(reply []byte) (json.RawMessage, error) {
	if reply == nil {
		return nil, errors.New("the call was cancelled")
	}
	var m wire.Message
	if err := wire.Scan(reply, &m); err != nil {
		return nil, err
	}
	if m.Kind == wire.Failure {
		said, _ := m.Text(m.Error, "message")
		return nil, errors.New(cmp.Or(foreign.NewLines(said).String(), "the tool failed and did not say why"))
	}
	var out [4]wire.Span
	if err := wire.Find(m.Raw, m.Result, []string{"structuredContent", "content", "isError", "resultType"}, out[:]); err != nil {
		return nil, fmt.Errorf("the tool's result cannot be read: %w", err)
	}
	if out[3].Present() && string(m.Bytes(out[3])) != `"complete"` {
		return nil, errors.New("the tool asks the user for input, which a script cannot give: call the tool directly")
	}
	said, isText := textOf(&m, out[1])
	switch {
	case string(m.Bytes(out[2])) == "true":
		if said == "" && out[0].Present() {
			said = string(m.Bytes(out[0]))
		}
		return nil, errors.New(cmp.Or(foreign.NewLines(said).String(), "the tool failed and did not say why"))
	case out[0].Present():
		return bytes.Clone(m.Bytes(out[0])), nil
	case !isText && out[1].Present():
		return bytes.Clone(m.Bytes(out[1])), nil
	}
	if value := bytes.TrimSpace([]byte(said)); len(value) > 0 && (value[0] == '{' || value[0] == '[') && wire.Valid(value) {
		return value, nil
	}
	return wire.AppendQuote(nil, said), nil
}

// textOf gives the texts of a result's content, a line between two of them; isText reports whether there is nothing
// else in it.
func textOf(m *wire.Message, content wire.Span) (said string, isText bool) {
	var all []byte
	isText = content.Present()
	for at := range wire.Elements(m.Raw, content) {
		var out [2]wire.Span
		if wire.Find(m.Raw, at, []string{"type", "text"}, out[:]) != nil || string(m.Bytes(out[0])) != `"text"` {
			isText = false
			continue
		}
		if all != nil {
			all = append(all, '\n')
		}
		all, _ = wire.AppendUnquote(all, m.Bytes(out[1]))
	}
	return string(all), isText
}
