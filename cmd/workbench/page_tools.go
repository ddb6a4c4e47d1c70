package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/page"
	"github.com/mcp-workbench/workbench/internal/status"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/meta"
	"github.com/mcp-workbench/workbench/toolbox"
	"github.com/mcp-workbench/workbench/toolbox/link"
)

// shownToolbox is what the page is told of a toolbox of the configuration.
type shownToolbox struct {
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Open        bool          `json:"open"` // without being asked for
	Tokens      int           `json:"tokens"`
	Servers     []shownServer `json:"servers"`
}

// shownServer is what it is told of a server there.
type shownServer struct {
	Name      string `json:"name"`
	Transport string `json:"transport"`
	Disabled  bool   `json:"disabled"`
	Problem   string `json:"problem,omitempty"`
	Tools     int    `json:"tools"`
	Tokens    int    `json:"tokens"`
	Seen      string `json:"seen,omitempty"` // when its tools were seen, "" if they never were
}

// shownCosts is what the definitions cost a client, in tokens of four bytes.
type shownCosts struct {
	AtOnce int `json:"at_once"` // what it is told before its first call
	All    int `json:"all"`
}

// toolboxes gives the toolboxes of the configuration that the viewer may use, with what was seen of their servers.
func (v *viewing) toolboxes(_ context.Context, q *page.Query) (any, error) {
	boxes, cfg, err := v.recalled()
	if err != nil {
		return nil, err
	}
	all, costs := []shownToolbox{}, shownCosts{AtOnce: meta.AtOnce(cfg)}
	for _, b := range boxes {
		of, _ := cfg.Toolbox(b.Name)
		if !q.May(b.Name) {
			continue
		}
		one := shownToolbox{Name: b.Name, Description: of.Description.String(), Open: of.Open, Servers: []shownServer{}}
		for _, srv := range b.Servers() {
			entry, _ := of.Server(srv.Name)
			s := showServer(srv, entry)
			one.Tokens += s.Tokens
			one.Servers = append(one.Servers, s)
		}
		costs.All += one.Tokens
		if of.Open && cfg.ToolMode != config.ToolModeSearch {
			costs.AtOnce += one.Tokens * bytesPerToken
		}
		all = append(all, one)
	}
	costs.AtOnce /= bytesPerToken
	return map[string]any{"toolboxes": all, "costs": costs, "tool_mode": cfg.ToolMode}, nil
}

// recalled gives all toolboxes with what was last seen of their servers, by the configuration as it is now.
func (v *viewing) recalled() ([]*toolbox.Toolbox, *config.Config, error) {
	boxes, cfg, _, err := v.env.beside(io.Discard).boxes(nil, nil)
	if err == nil {
		toolbox.Recall(boxes...)
	}
	return boxes, cfg, err
}

func showServer(srv *toolbox.Server, entry *config.Server) shownServer {
	st := srv.Status()
	one := shownServer{Name: srv.Name, Transport: string(entry.Transport), Disabled: st.State == toolbox.Disabled}
	if entry.Problem != nil {
		one.Problem = foreign.NewText(entry.Problem.Error()).String()
	}
	for _, it := range srv.Items(toolbox.Tools) {
		one.Tools++
		one.Tokens += len(it.Raw) / bytesPerToken
	}
	if !st.Seen.IsZero() {
		one.Seen = st.LastSeen()
	}
	return one
}

// tools gives the definitions of a toolbox's tools as they were seen the last time.
func (v *viewing) tools(ctx context.Context, q *page.Query) (any, error) {
	name, err := v.box(q)
	if err != nil {
		return nil, err
	}
	seen, err := v.json(ctx, about([]string{"tools", "--offline", "--json"}, name)...)
	if err != nil {
		return nil, err
	}
	var all []json.RawMessage
	if err := json.Unmarshal(seen, &all); err != nil {
		return nil, err
	}
	built, err := v.builtin(ctx, name)
	return append(all, built...), err
}

// builtin gives the definitions of the tools of servers that are part of this program: they are there at once, and not kept.
func (v *viewing) builtin(ctx context.Context, name string) (all []json.RawMessage, err error) {
	sub := v.env.beside(io.Discard)
	defer func() { sub.hosts.close() }()
	boxes, closeAll, err := sub.openBoxes(ctx, func(t *config.Toolbox) config.Toolbox {
		kept := *t
		kept.Servers = slices.DeleteFunc(slices.Clone(t.Servers), func(s config.Server) bool { return s.Transport != config.TransportBuiltin })
		return kept
	}, name)
	if err != nil {
		return nil, err
	}
	defer closeAll()
	for _, b := range boxes {
		for _, srv := range b.Servers() {
			for _, it := range srv.Items(toolbox.Tools) {
				all = append(all, json.RawMessage(foreign.JSON(located(it, false))))
			}
		}
	}
	return all, nil
}

// box gives the toolbox that a query names, which the viewer must be allowed to use.
func (v *viewing) box(q *page.Query) (string, error) {
	var asked struct {
		Toolbox string `json:"toolbox"`
	}
	if err := read(q, &asked); err != nil {
		return "", err
	}
	if asked.Toolbox == "" || !q.May(asked.Toolbox) {
		return "", fmt.Errorf("there is no toolbox %q here", foreign.NewName(asked.Toolbox))
	}
	return asked.Toolbox, nil
}

// open opens a toolbox for the viewer, so that its servers start, or are tried again at once.
func (v *viewing) open(ctx context.Context, q *page.Query) (any, error) {
	name, err := v.box(q)
	if err != nil {
		return nil, err
	}
	params := append(wire.AppendQuote([]byte(`{"name":"workbench_open_toolbox","arguments":{"toolbox_name":`), name), "}}"...)
	return v.asked(ctx, q, params)
}

// call calls a tool: that of a server that runs for a client of this user here, or else one of the page's own.
func (v *viewing) call(ctx context.Context, q *page.Query) (any, error) {
	var asked struct {
		Server    string          `json:"server"`
		Tool      string          `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
	}
	box, err := v.box(q)
	if err == nil {
		err = read(q, &asked)
	}
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(asked.Arguments, []byte("null")) || len(asked.Arguments) == 0 {
		asked.Arguments = []byte("{}")
	}
	cfg, _, err := v.env.LoadBy((*config.Source).ParseUsable)
	if err != nil {
		return nil, err
	}
	if v.key != nil {
		name := box + "/" + asked.Server + "/" + asked.Tool
		if guest, found := v.env.running(ctx, cfg, box, asked.Server, name); guest != nil {
			params, err := guest.params(found, asked.Arguments)
			if err != nil {
				return nil, err
			}
			client := &caller{ctx: ctx, env: v.env}
			client.line.To = io.Discard
			result, err := client.call(ctx, guest, "tools/call", params)
			return json.RawMessage(result), err
		}
	}
	params := append(wire.AppendQuote([]byte(`{"name":"workbench_use_tool","arguments":{"tool":{"toolbox":`), box), `,"server":`...)
	params = append(wire.AppendQuote(params, asked.Server), `,"name":`...)
	params = append(wire.AppendQuote(params, asked.Tool), `},"arguments":`...)
	return v.asked(ctx, q, append(append(params, asked.Arguments...), "}}"...))
}

// asked makes a tools/call through the front of this process, as the viewer, and gives its result. Progress is told on the way.
func (v *viewing) asked(ctx context.Context, q *page.Query, params []byte) (json.RawMessage, error) {
	meta := fmt.Sprintf(`{"_meta":{%q:%q,%q:{"name":"workbench ui","version":%q},%q:{},"progressToken":"page"},`,
		eras.Version, mcp.LATEST_PROTOCOL_VERSION, eras.Info, cli.Version(), eras.Capabilities)
	raw := append([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`+meta), params[1:]...)
	var line bytes.Buffer
	if err := json.Compact(&line, append(raw, '}')); err != nil {
		return nil, fmt.Errorf("the arguments are not JSON: %w", err)
	}
	reply, err := v.front.Ask(ctx, q.Principal, line.Bytes(), func(msg []byte) {
		var m wire.Message
		if wire.Scan(msg, &m) == nil && m.IsMethod("notifications/progress") {
			_ = q.Note(json.RawMessage(m.Bytes(m.Params))) // who does not read any more ends the call
		}
	})
	if err != nil {
		return nil, err
	}
	var m wire.Message
	if err := wire.Scan(reply, &m); err != nil {
		return nil, err
	}
	if m.Kind == wire.Failure {
		return nil, link.ReplyError("tools/call", &m)
	}
	return slices.Clone(m.Bytes(m.Result)), nil
}

// able enables a server of the configuration, or disables it.
func (v *viewing) able(ctx context.Context, q *page.Query) (any, error) {
	var asked struct {
		Server  string `json:"server"`
		Enabled bool   `json:"enabled"`
	}
	box, err := v.box(q)
	if err == nil {
		err = read(q, &asked)
	}
	if err != nil {
		return nil, err
	}
	command := "disable"
	if asked.Enabled {
		command = "enable"
	}
	return nil, v.env.aside(ctx, io.Discard, about([]string{command}, box+"/"+asked.Server)...)
}

// login logs in to a remote server: the viewer is told the address to open, and waits until that was done.
func (v *viewing) login(ctx context.Context, q *page.Query) (any, error) {
	var asked struct {
		Server string `json:"server"`
	}
	box, err := v.box(q)
	if err == nil {
		err = read(q, &asked)
	}
	if err != nil {
		return nil, err
	}
	if v.key == nil {
		return nil, &page.Refusal{Reason: errors.New("a login needs a browser of the machine that the gateway runs on"),
			Hint: fmt.Sprintf("there, run: workbench login %s/%s", box, asked.Server)}
	}
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := v.env.aside(ctx, in, about([]string{"login"}, box+"/"+asked.Server)...)
		_ = in.Close()
		ended <- err
	}()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if err := q.Note(map[string]string{"address": lines.Text()}); err != nil {
			break
		}
	}
	_ = out.Close()
	return nil, <-ended
}

// restart has a server started anew, or tried at once, in the workbench that the query names.
func (v *viewing) restart(ctx context.Context, q *page.Query) (any, error) {
	var asked struct {
		PID    int    `json:"pid"`
		Server string `json:"server"`
	}
	box, err := v.box(q)
	if err == nil {
		err = read(q, &asked)
	}
	if err != nil {
		return nil, err
	}
	gone := fmt.Errorf("%s/%s is not open there any more", box, foreign.NewName(asked.Server))
	if v.key == nil || asked.PID == os.Getpid() {
		found, err := v.front.Restart(q.Principal, box, asked.Server)
		if !found {
			err = gone
		}
		return nil, err
	}
	for _, p := range v.others() {
		if w, err := p.Get(ctx); err != nil || w.PID != asked.PID {
			continue
		}
		done, err := p.Restart(ctx, box, asked.Server)
		if errors.Is(err, status.ErrNone) {
			return nil, gone
		}
		for _, one := range done {
			if one.Error != "" {
				err = errors.Join(err, errors.New(foreign.NewText(one.Error).String()))
			}
		}
		return nil, err
	}
	return nil, gone
}
