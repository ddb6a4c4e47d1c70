package tools

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/pause"
	"github.com/mcp-workbench/workbench/internal/question"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
	"github.com/mcp-workbench/workbench/toolbox/link"
)

// caller is the client side of a command that asks servers for something: it follows what it asked for to its end, and
// answers what servers ask, by the person at the terminal if there is one.
type caller struct {
	ctx    context.Context // the command's: what servers ask is of no interest after it
	client string          // what it is to servers
	roots  []byte          // the result of roots/list; nil if the servers are told of none
	person Person

	mu   sync.Mutex // held while the person is asked
	line terminal.Progress
}

// Person is who has something called.
type Person struct {
	// Progress shows the parameters of a notification of progress; nil means that what happens cannot be shown.
	Progress func(params []byte)
	// Ask gives the result of elicitation/create, by its parameters; nil means that nobody can be asked.
	Ask func(server string, params []byte) (result []byte, err error)
}

// NewCaller makes a caller for a person who is not at a terminal.
func NewCaller(ctx context.Context, client string, person Person) *caller {
	c := &caller{ctx: ctx, client: client, person: person}
	c.line.To = io.Discard
	return c
}

func newCaller(ctx context.Context, env *opening.Environment, flags *callFlags) (*caller, error) {
	c := &caller{ctx: ctx, client: "workbench call"}
	c.line.To = env.Err
	if terminal.Draws(env.Err, env.Lookup) {
		c.person.Progress = c.progress
	}
	if terminal.Is(env.Err) {
		if at := (question.Terminal{In: bufio.NewReader(env.In), Out: env.Err}); terminal.Is(env.In) {
			c.person.Ask = at.Ask
		}
	}
	if flags.save != "" {
		if info, err := os.Stat(flags.save); err != nil || !info.IsDir() {
			return nil, cli.Usage(cli.Hint(fmt.Errorf("--save %s: there is no such folder", flags.save), "make it first, or name another one"))
		}
	}
	for _, dir := range flags.roots {
		path, err := cli.Abs(dir)
		if err == nil {
			_, err = os.Stat(path)
		}
		if err != nil {
			return nil, cli.Usage(cli.Hint(fmt.Errorf("--root %s: %w", dir, err), "give a folder that exists"))
		}
		if c.roots == nil {
			c.roots = []byte(`{"roots":[`)
		} else {
			c.roots = append(c.roots, ',')
		}
		slashed := filepath.ToSlash(path)
		if runtime.GOOS == "windows" {
			slashed = "/" + slashed
		}
		c.roots = wire.NewObject(c.roots).Text("uri", (&url.URL{Scheme: "file", Path: slashed}).String()).Text("name", filepath.Base(path)).End()
	}
	if c.roots != nil {
		c.roots = append(c.roots, "]}"...)
	}
	return c, nil
}

// maxResult is the longest message that a command takes from a server, unless the configuration allows more: nobody but
// the person who asked for it pays for it.
const maxResult = 256 << 20

// tune has toolboxes speak for this client.
func (c *caller) tune(o *toolbox.Options) {
	capabilities := []string{`"extensions":{"io.modelcontextprotocol/tasks":{}}`}
	if c.person.Ask != nil {
		capabilities = append(capabilities, `"elicitation":{"form":{},"url":{}}`)
	}
	if c.roots != nil {
		capabilities = append(capabilities, `"roots":{}`)
	}
	o.Peer = c
	o.Client.Capabilities = []byte("{" + strings.Join(capabilities, ",") + "}")
	o.MaxMessage = max(o.MaxMessage, maxResult)
}

// Notification shows the log lines of servers.
func (c *caller) Notification(srv *toolbox.Server, m *wire.Message, _ toolbox.CallHandler) {
	if c.person.Progress == nil || !m.IsMethod("notifications/message") {
		return
	}
	var log struct {
		Level foreign.Name    `json:"level"`
		Data  json.RawMessage `json:"data"`
	}
	if json.Unmarshal(m.Bytes(m.Params), &log) != nil {
		return
	}
	text := string(log.Data)
	if said, ok := wire.Unquote(log.Data); ok {
		text = said
	}
	c.line.Say(fmt.Sprintf("%s: %s: %s", srv.Name, log.Level, foreign.NewText(text)))
}

// Withdraw and Changed concern clients that stay.
func (c *caller) Withdraw(*toolbox.Ask, *wire.Message)  {}
func (c *caller) Changed(*toolbox.Server, toolbox.Kind) {}

// Request answers what a server asks.
func (c *caller) Request(a *toolbox.Ask, m *wire.Message) {
	method := string(m.Bytes(m.Method))
	params := bytes.Clone(m.Bytes(m.Params))
	go func() { // a person takes their time, and the server's messages are to be read
		result, err := c.answer(a.Server.Name, method, params)
		if refused := new(wire.Error); errors.As(err, &refused) {
			a.Refuse(refused.Code, refused.Message)
			return
		} else if err != nil {
			a.Refuse(wire.CodeInvalidParams, err.Error())
			return
		}
		raw := wire.AppendResult(nil, []byte("0"), result)
		var reply wire.Message
		if err := wire.Scan(raw, &reply); err != nil {
			a.Refuse(wire.CodeInternal, err.Error())
			return
		}
		a.Reply(raw, reply.ID)
	}()
}

// answer gives the result of what a server asks.
func (c *caller) answer(server, method string, params []byte) ([]byte, error) {
	refuse := func(what, why string) error {
		c.line.Say(fmt.Sprintf("server %q asks for %s (%s), and is refused: %s", server, what, foreign.NewName(method), why))
		return &wire.Error{Code: wire.CodeMethodNotFound, Message: why}
	}
	switch {
	case method == "ping":
		return []byte("{}"), nil
	case method == "roots/list" && c.roots != nil:
		return c.roots, nil
	case method == "roots/list":
		return nil, refuse("the folders to work in", "the caller named none (workbench call --root does)")
	case method == "elicitation/create" && c.person.Ask != nil:
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.ctx.Err() != nil {
			return []byte(`{"action":"cancel"}`), nil
		}
		c.line.Pause()
		defer c.line.Resume()
		return c.person.Ask(server, params)
	case method == "elicitation/create":
		return nil, refuse("an answer of a person", "nobody is at a terminal to answer; call the tool in one")
	case method == "sampling/createMessage":
		return nil, refuse("the words of a language model", "workbench call has none; call the tool from an agent whose client lends its model to servers")
	}
	return nil, refuse("something unknown", "workbench call does not know that method")
}

// progress shows on the terminal how far a call is.
func (c *caller) progress(params []byte) {
	var p struct {
		Progress, Total float64
		Message         foreign.Text
	}
	if json.Unmarshal(params, &p) == nil {
		c.line.Progress(p.Progress, p.Total, p.Message.String())
	}
}

// waiting is the end of one request.
type waiting struct {
	c    *caller
	done chan struct{}
	raw  []byte // the reply
	err  error
}

func (w *waiting) Progress(m *wire.Message, _ wire.Span) {
	if show := w.c.person.Progress; show != nil {
		show(m.Bytes(m.Params))
	}
}

func (w *waiting) Done(m *wire.Message, err error) {
	if m != nil {
		w.raw = bytes.Clone(m.Raw)
	}
	w.err = err
	close(w.done)
}

// line leads to a server: to one of this process, or of a workbench that runs.
type line interface {
	name() string
	// request makes one request and waits for its result, or what is in its place.
	request(ctx context.Context, c *caller, method string, params []byte) ([]byte, error)
}

// toolLine is a line by which tools are called, in params of its own.
type toolLine interface {
	line
	Params(found toolbox.Item, arguments []byte) ([]byte, error)
}

// ownLine leads to a server of this process.
type ownLine struct{ *toolbox.Server }

func (l ownLine) name() string { return l.Name }

func (l ownLine) Params(found toolbox.Item, arguments []byte) ([]byte, error) {
	return found.CallParams(arguments)
}

func (l ownLine) request(ctx context.Context, c *caller, method string, params []byte) ([]byte, error) {
	raw := wire.AppendRequest(nil, "0", method, params)
	var m wire.Message
	if err := wire.Scan(raw, &m); err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	w := &waiting{c: c, done: make(chan struct{})}
	call := &toolbox.Call{Raw: raw, ID: m.ID, Params: m.Params, Handler: w}
	var err error
	if call.Meta, err = wire.FindPath(raw, m.Params, "_meta"); err == nil {
		call.Token, err = wire.FindPath(raw, m.Params, "_meta", "progressToken")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	l.Send(call)
	select {
	case <-w.done:
	case <-ctx.Done():
		call.Cancel(nil, wire.Span{})
		return nil, context.Cause(ctx)
	}
	if gone := new(toolbox.UnavailableError); errors.As(w.err, &gone) {
		return nil, opening.Absent(gone.Toolbox, gone.Server, gone.Status)
	}
	if w.err != nil {
		return nil, w.err
	}
	if err := wire.Scan(w.raw, &m); err != nil {
		return nil, err
	}
	if m.Kind == wire.Failure {
		return nil, link.ReplyError(method, &m)
	}
	return m.Bytes(m.Result), nil
}

// Call makes a request and follows it to its result: what the server wants to know first is answered, and a task is
// waited for.
func (c *caller) Call(ctx context.Context, to line, method string, params []byte) ([]byte, error) {
	defer c.line.End()
	if c.person.Progress != nil {
		params = append([]byte(`{"_meta":{"progressToken":0},`), params[1:]...)
	}
	request := func(params []byte) ([]byte, error) { return to.request(ctx, c, method, params) }
	result, err := question.Rounds(params, request, c.answerTo(to))
	if err != nil {
		return nil, err
	}
	var kind struct {
		ResultType string `json:"resultType"`
		Task       *task  `json:"task"`
	}
	_ = json.Unmarshal(result, &kind) // of another shape it is the result
	switch {
	case kind.ResultType == "task":
		var t task
		if err := json.Unmarshal(result, &t); err != nil {
			return nil, fmt.Errorf("the task cannot be read: %w", foreign.NewError(err))
		}
		return c.follow(ctx, to, &t, true)
	case kind.Task != nil && kind.Task.ID != "" && method == "tools/call":
		return c.follow(ctx, to, kind.Task, false)
	}
	return result, nil
}

// answerTo answers what the server of a line asks.
func (c *caller) answerTo(to line) question.Answer {
	return func(method string, params []byte) ([]byte, error) { return c.answer(to.name(), method, params) }
}

// task is what a server says of one, in either revision.
type task struct {
	ID            string          `json:"taskId"`
	Status        foreign.Name    `json:"status"`
	Message       foreign.Text    `json:"statusMessage"`
	Poll          float64         `json:"pollInterval"`
	PollMs        float64         `json:"pollIntervalMs"`
	Result        json.RawMessage `json:"result"`
	Error         json.RawMessage `json:"error"`
	InputRequests json.RawMessage `json:"inputRequests"`
}

// The pause between two looks at a task, and the time that cancelling one may take.
const (
	leastPoll   = 100 * time.Millisecond
	defaultPoll = time.Second
	mostPoll    = 30 * time.Second
	cancelTime  = 900 * time.Millisecond
)

func (t *task) pause() time.Duration {
	ms := max(t.Poll, t.PollMs)
	if ms <= 0 {
		return defaultPoll
	}
	return min(max(time.Duration(ms*float64(time.Millisecond)), leastPoll), mostPoll)
}

// follow waits for the result of a task, and cancels it if ctx ends first.
func (c *caller) follow(ctx context.Context, to line, t *task, modern bool) (result []byte, err error) {
	about := wire.NewObject(nil).Text("taskId", t.ID).End()
	defer func() {
		if ctx.Err() != nil {
			late, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
			defer cancel()
			_, _ = to.request(late, c, "tasks/cancel", about)
		}
	}()
	for {
		if c.person.Progress != nil {
			c.line.Status(strings.TrimSpace(fmt.Sprintf("task %s %s", t.Status, t.Message)))
		}
		switch t.Status.Verbatim() {
		case "completed", "failed", "cancelled":
			if !modern {
				return to.request(ctx, c, "tasks/result", about)
			}
			return t.outcome()
		case "input_required":
			if !modern { // it asks while its result is waited for
				return to.request(ctx, c, "tasks/result", about)
			}
			responses, err := question.Responses(t.InputRequests, c.answerTo(to))
			if err != nil {
				return nil, err
			}
			if _, err := to.request(ctx, c, "tasks/update", question.WithResponses(about, responses, nil)); err != nil {
				return nil, err
			}
		}
		if err := pause.For(ctx, t.pause()); err != nil {
			return nil, err
		}
		got, err := to.request(ctx, c, "tasks/get", about)
		if err != nil {
			return nil, err
		}
		now := new(task)
		if err := json.Unmarshal(got, now); err != nil {
			return nil, fmt.Errorf("the task cannot be read: %w", foreign.NewError(err))
		}
		t = now
	}
}

// outcome is the end of a task of revision 2026-07-28.
func (t *task) outcome() ([]byte, error) {
	switch {
	case len(t.Result) > 0:
		return t.Result, nil
	case len(t.Error) > 0:
		return nil, fmt.Errorf("the task failed: %s", foreign.NewText(string(t.Error)))
	}
	return nil, fmt.Errorf("the task is %s: %q", t.Status, t.Message)
}
