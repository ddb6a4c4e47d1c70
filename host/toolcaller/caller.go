// Package toolcaller calls tools for those who are no clients: the commands of command workflows and the runs of
// workflows.
//
// A Caller has toolboxes of its own, each of which is opened by the first call to one of its servers. They have the
// servers that clients are served, except those of commands, and are for nobody in particular: what commands do they do
// for all.
package toolcaller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/approval"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
	"github.com/mcp-workbench/workbench/toolbox/link"
	"github.com/mcp-workbench/workbench/toolbox/rpc"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

// Options are what a Caller gets from the program around it.
type Options struct {
	// Toolbox gives what toolboxes are made with, but for the longest message, which the configuration says. It is
	// asked once, when the first toolbox is wanted.
	Toolbox func() toolbox.Options
	// Ask waits until a person agrees to a call of a tool that wants that; its error says why the call is not to be
	// made.
	Ask func(context.Context, approval.Call) error
	// Logger receives what concerns the operator; the zero value is silent.
	Logger zerolog.Logger
}

// A Caller calls tools by a configuration. Any number of goroutines may use it.
type Caller struct {
	opts Options

	mu     sync.Mutex // guards what follows
	cfg    *config.Config
	boxes  map[string]*toolbox.Toolbox
	closed bool
}

// New returns a Caller. It is to be closed.
func New(cfg *config.Config, opts Options) *Caller {
	opts.Toolbox = sync.OnceValue(opts.Toolbox)
	return &Caller{opts: opts, cfg: cfg, boxes: map[string]*toolbox.Toolbox{}}
}

// Reload has the tools be called by another configuration.
func (c *Caller) Reload(cfg *config.Config) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cfg = cfg
	for name, box := range c.boxes {
		if found, ok := cfg.Toolbox(name); ok {
			for _, gone := range box.Update(WithoutCommands(found)) {
				heir, _ := box.Server(gone.Name)
				gone.Retire(heir)
			}
		}
	}
}

// Close closes the toolboxes. No call is made after it.
func (c *Caller) Close() {
	c.mu.Lock()
	c.closed = true
	boxes := c.boxes
	c.mu.Unlock()
	var all sync.WaitGroup
	for _, box := range boxes {
		all.Go(func() { _ = box.Close() })
	}
	all.Wait()
}

// WithoutCommands is a toolbox without its servers of commands: commands call the others. None of these is shared with
// clients, so that a server inside this process knows that it works for nobody in particular.
func WithoutCommands(cfg *config.Toolbox) config.Toolbox {
	own := *cfg
	own.Servers = slices.DeleteFunc(slices.Clone(own.Servers), func(s config.Server) bool { return s.Builtin == config.BuiltinCommands })
	for i := range own.Servers {
		own.Servers[i].Shared = false
	}
	return own
}

// box returns a toolbox, opened.
func (c *Caller) box(ctx context.Context, name string) (*toolbox.Toolbox, error) {
	box, cfg, err := c.find(name)
	if err != nil || box.Opened() {
		return box, err // each server is waited for by who calls it
	}
	return box, box.Open(ctx, cfg.OpenTimeout)
}

// find returns a toolbox, which it makes if there is none.
func (c *Caller) find(name string) (*toolbox.Toolbox, *config.Config, error) {
	opts := c.opts.Toolbox()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, toolbox.ErrClosed
	}
	found, ok := c.cfg.Toolbox(name)
	if !ok {
		return nil, nil, c.cfg.UnknownToolbox(name)
	}
	box := c.boxes[name]
	if box == nil {
		opts.MaxMessage, opts.Peer = c.cfg.MaxMessage, toolbox.Nobody{}
		box = toolbox.New(WithoutCommands(found), opts)
		c.boxes[name] = box
	}
	return box, c.cfg, nil
}

// Tools lists the tools of a toolbox; unlisted are its servers that could not tell theirs.
func (c *Caller) Tools(ctx context.Context, name string) (tools []command.Tool, unlisted []string, err error) {
	box, err := c.box(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range box.Servers() {
		items := s.Items(toolbox.Tools)
		if st := s.Status(); len(items) == 0 && st.State != toolbox.Ready {
			unlisted = append(unlisted, name+"/"+s.Name)
			c.opts.Logger.Warn().AnErr(logkey.Err, &toolbox.UnavailableError{Toolbox: name, Server: s.Name, Status: st}).Msg("a command workflow lacks the tools of a server")
		}
		for _, it := range items {
			tools = append(tools, command.Tool{Toolbox: name, Server: s.Name, Raw: it.Raw})
		}
	}
	return tools, unlisted, nil
}

// CallTool implements command.Caller and runs.Tools. Of a call that was certainly not made, or that the server has
// refused, the error is a *runs.NotMadeError.
func (c *Caller) CallTool(ctx context.Context, box, server, tool string, arguments json.RawMessage) (json.RawMessage, error) {
	s, err := c.server(ctx, box, server)
	if err != nil {
		return nil, &runs.NotMadeError{Err: err}
	}
	called, err := s.Offered(ctx, tool)
	if err == nil && s.Asks(called.Token()) {
		err = c.opts.Ask(ctx, approval.NewCall(box, server, tool, arguments))
	}
	if err != nil {
		return nil, &runs.NotMadeError{Err: err}
	}
	result, err := s.CallTool(ctx, tool, arguments)
	if errors.As(err, new(*link.RPCError)) || errors.As(err, new(*toolbox.RefusedError)) || errors.As(err, new(*toolbox.UnavailableError)) ||
		errors.As(err, new(*rpc.UndoneError)) {
		err = &runs.NotMadeError{Err: err}
	}
	return result, err
}

// server finds a server.
func (c *Caller) server(ctx context.Context, box, server string) (*toolbox.Server, error) {
	b, err := c.box(ctx, box)
	if err != nil {
		return nil, err
	}
	s, ok := b.Server(server)
	if !ok {
		return nil, fmt.Errorf("toolbox %q has no server %q", box, server)
	}
	return s, nil
}

// Hints implements runs.Tools: what a tool says of itself.
func (c *Caller) Hints(ctx context.Context, box, server, tool string) (readOnly, idempotent bool) {
	s, err := c.server(ctx, box, server)
	if err != nil {
		return false, false
	}
	for _, it := range s.Items(toolbox.Tools) {
		if it.Key.Verbatim() == tool {
			says := func(hint string) bool {
				return string(wire.Get(it.Raw, wire.Whole(it.Raw), "annotations", hint)) == "true"
			}
			return says("readOnlyHint"), says("idempotentHint")
		}
	}
	return false, false
}
