package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/approval"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

// withoutDesks is a toolbox without its servers of commands: commands call the
// others.
func withoutDesks(cfg *config.Toolbox) config.Toolbox {
	own := *cfg
	own.Servers = slices.DeleteFunc(slices.Clone(own.Servers), func(s config.Server) bool { return s.Builtin == commandsBuiltin })
	return own
}

// box returns a toolbox of the desks' own, opened. It has the servers that
// clients are served, and is for nobody in particular: what commands do they do
// for all.
func (d *desks) box(ctx context.Context, name string) (*toolbox.Toolbox, error) {
	d.mu.Lock()
	found, ok := d.cfg.Toolbox(name)
	switch {
	case d.closed:
		d.mu.Unlock()
		return nil, toolbox.ErrClosed
	case !ok:
		defer d.mu.Unlock()
		return nil, unknownToolbox(d.cfg, name)
	}
	box, wait := d.boxes[name], d.cfg.OpenTimeout
	if box == nil {
		opts := d.env.toolboxOptions(d.cfg, d.log)
		opts.Peer = loner{}
		box = toolbox.New(withoutDesks(found), opts)
		d.boxes[name] = box
	}
	d.mu.Unlock()
	if box.Opened() {
		return box, nil // each server is waited for by who calls it
	}
	return box, box.Open(ctx, wait)
}

// tools lists the tools of a toolbox; unlisted are its servers that could not
// tell theirs.
func (d *desks) tools(ctx context.Context, name string) (tools []command.Tool, unlisted []string, err error) {
	box, err := d.box(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	_, log := d.now()
	for _, s := range box.Servers() {
		items := s.Items(toolbox.Tools)
		if st := s.Status(); len(items) == 0 && st.State != toolbox.Ready {
			unlisted = append(unlisted, name+"/"+s.Name)
			log.Warn().AnErr(logkey.Err, &toolbox.UnavailableError{Toolbox: name, Server: s.Name, Status: st}).Msg("a command workflow lacks the tools of a server")
		}
		for _, it := range items {
			tools = append(tools, command.Tool{Toolbox: name, Server: s.Name, Raw: it.Raw})
		}
	}
	return tools, unlisted, nil
}

// A toolCaller calls tools for commands.
type toolCaller struct{ desks *desks }

// CallTool implements command.Caller. Of a call that was certainly not made, or that the server has refused, the error is a
// *runs.NotMadeError.
func (c toolCaller) CallTool(ctx context.Context, box, server, tool string, arguments json.RawMessage) (json.RawMessage, error) {
	s, err := c.server(ctx, box, server)
	if err != nil {
		return nil, &runs.NotMadeError{Err: err}
	}
	called, err := s.Offered(ctx, tool)
	if err != nil {
		return nil, &runs.NotMadeError{Err: err}
	}
	if s.Asks(called.Token()) {
		if err := c.desks.env.approvals.Ask(ctx, approval.NewCall(box, server, tool, arguments)); err != nil {
			return nil, &runs.NotMadeError{Err: err}
		}
	}
	result, err := s.CallTool(ctx, tool, arguments)
	if errors.As(err, new(*toolbox.RPCError)) || errors.As(err, new(*toolbox.RefusedError)) || errors.As(err, new(*toolbox.UnavailableError)) ||
		errors.As(err, new(*toolbox.UndoneError)) {
		err = &runs.NotMadeError{Err: err}
	}
	return result, err
}

// server finds a server in a toolbox of the desks' own.
func (c toolCaller) server(ctx context.Context, box, server string) (*toolbox.Server, error) {
	b, err := c.desks.box(ctx, box)
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
func (c toolCaller) Hints(ctx context.Context, box, server, tool string) (readOnly, idempotent bool) {
	s, err := c.server(ctx, box, server)
	if err != nil {
		return false, false
	}
	for _, it := range s.Items(toolbox.Tools) {
		if it.Key.Verbatim() == tool {
			says := func(hint string) bool {
				at, err := wire.FindPath(it.Raw, wire.Span{Start: 0, End: len(it.Raw)}, "annotations", hint)
				return err == nil && at.Present() && string(it.Raw[at.Start:at.End]) == "true"
			}
			return says("readOnlyHint"), says("idempotentHint")
		}
	}
	return false, false
}
