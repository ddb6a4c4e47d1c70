package tools

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/running"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/status"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/meta"
	"github.com/mcp-workbench/workbench/toolbox"
	"github.com/mcp-workbench/workbench/toolbox/link"
	"github.com/mcp-workbench/workbench/toolbox/offered"
)

// guestLine leads to a server of a workbench that runs, by its local socket.
type guestLine struct {
	peer        status.Peer
	box, server string
}

// answerTime bounds what a running workbench has at hand.
const answerTime = 3 * time.Second

// Running finds the workbench of this user and project that has a server ready, and the definition of the tool that a
// name means there. nil says that there is none. A workbench is of this project if it has the same configuration and
// runs in this directory or one above it; the nearest one is taken, and of several the one that began last. One that does
// not answer, and may have the server, is a warning.
func Running(ctx context.Context, e *opening.Environment, cfg *config.Config, box, server, name string) (*guestLine, toolbox.Item) {
	dir, err := cli.WorkingDir()
	if err != nil {
		return nil, toolbox.Item{}
	}
	type standing struct {
		status.Peer
		status.Workbench
	}
	all, _ := running.Gather(e.Environment, func(p status.Peer) ([]standing, error) {
		w, err := p.Get(ctx) // of one that does not answer it has no folder
		return []standing{{p, w}}, err
	})
	var best *guestLine
	var bestDir string
	var since time.Time
	for _, w := range all {
		if w.Address != "" || w.Config != cfg.Path || w.Dir == "" {
			continue
		}
		if rel, err := filepath.Rel(w.Dir, dir); err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			continue
		}
		if !hasReady(&w.Workbench, box, server) || len(w.Dir) < len(bestDir) || len(w.Dir) == len(bestDir) && w.Since.Before(since) {
			continue
		}
		best, bestDir, since = &guestLine{peer: w.Peer, box: box, server: server}, w.Dir, w.Since
	}
	if best == nil {
		return nil, toolbox.Item{}
	}
	var tools []json.RawMessage
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	if best.peer.Visit(ctx, "/tools?"+best.query(), nil, func(r io.Reader) error { return json.NewDecoder(r).Decode(&tools) }) != nil {
		return nil, toolbox.Item{}
	}
	for _, raw := range tools {
		var def struct {
			Name string `json:"name"`
		}
		if def := readDefinition(raw); def.Execution.TaskSupport == "required" {
			continue // tasks are followed with the server alone
		}
		if json.Unmarshal(raw, &def) == nil && (strings.EqualFold(name, box+"/"+server+"/"+def.Name) && strings.HasSuffix(name, def.Name) ||
			name == toolbox.ExposedName(box, server, def.Name) || name == def.Name) {
			return best, toolbox.Item{Item: offered.Item{Raw: raw, Key: foreign.NewName(def.Name)}}
		}
	}
	return nil, toolbox.Item{}
}

// hasReady reports whether a workbench has a server ready in a toolbox that its client has opened.
func hasReady(w *status.Workbench, box, server string) bool {
	for _, s := range w.Sessions {
		for _, b := range s.Toolboxes {
			for _, srv := range b.Servers {
				if s.Direct == "" && b.Name == box && srv.Name == server && srv.State == string(toolbox.Ready) {
					return true
				}
			}
		}
	}
	return false
}

func (l *guestLine) name() string { return l.server }

func (l *guestLine) query() string {
	return url.Values{"toolbox": {l.box}, "server": {l.server}}.Encode()
}

// Params are those of the meta tool: the front that runs finds the tool, and whose it is.
func (l *guestLine) Params(found toolbox.Item, arguments []byte) ([]byte, error) {
	return meta.CallParams(l.box, l.server, found.Key.Verbatim(), arguments).End(), nil
}

// request makes a call of the tool, and answers what the server asks on the way.
func (l *guestLine) request(ctx context.Context, c *caller, method string, params []byte) ([]byte, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(params, &members); err != nil {
		return nil, err
	}
	capabilities := "{}"
	if c.person.Ask != nil {
		capabilities = `{"elicitation":{"form":{},"url":{}}}`
	}
	meta := fmt.Sprintf(`{%q:%q,%q:{"name":%q,"version":%q},%q:%s`, eras.Version, eras.Newest(), eras.Info, c.client, cli.Version(), eras.Capabilities, capabilities)
	if c.person.Progress != nil {
		meta += `,"progressToken":"call"`
	}
	members["_meta"] = json.RawMessage(meta + "}")
	delete(members, "task")
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": members})
	if err != nil {
		return nil, err
	}
	var result []byte
	err = l.peer.Visit(ctx, "/call?"+l.query(), body, func(r io.Reader) (err error) {
		result, err = l.read(ctx, c, method, r)
		return err
	})
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, status.ErrNone) || errors.Is(err, status.ErrGone):
		return nil, cli.Hint(fmt.Errorf("server %q of the running workbench has just ended", l.server), "call again, or add --new")
	}
	return result, err
}

// read takes the messages that belong to a call, up to its reply.
func (l *guestLine) read(ctx context.Context, c *caller, method string, r io.Reader) ([]byte, error) {
	in := bufio.NewReader(r)
	for {
		raw, err := in.ReadBytes('\n')
		if err != nil {
			return nil, fmt.Errorf("the running workbench ended the call: %w; whether it was carried out is unknown", err)
		}
		var m wire.Message
		if err := wire.Scan(raw[:len(raw)-1], &m); err != nil {
			return nil, err
		}
		switch {
		case m.Kind == wire.Result:
			return m.Bytes(m.Result), nil
		case m.Kind == wire.Failure:
			return nil, link.ReplyError(method, &m)
		case m.Kind == wire.Request:
			go l.answer(ctx, c, &m)
		case m.IsMethod("notifications/progress"):
			(&waiting{c: c}).Progress(&m, wire.Span{})
		}
	}
}

// answer answers a question of the server.
func (l *guestLine) answer(ctx context.Context, c *caller, m *wire.Message) {
	result, err := c.answer(l.server, string(m.Bytes(m.Method)), m.Bytes(m.Params))
	reply := wire.AppendResult(nil, m.Bytes(m.ID), result)
	if err != nil {
		code := wire.CodeInvalidParams
		if refused := new(wire.Error); errors.As(err, &refused) {
			code, err = refused.Code, errors.New(refused.Message)
		}
		reply = wire.AppendError(nil, m.Bytes(m.ID), code, err.Error(), nil)
	}
	_ = l.peer.Visit(ctx, "/answer", reply, func(io.Reader) error { return nil }) // a call that is over asks nothing
}
