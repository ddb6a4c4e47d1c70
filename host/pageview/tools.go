package pageview

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/page"
	"github.com/mcp-workbench/workbench/internal/question"
	"github.com/mcp-workbench/workbench/internal/tokencount"
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

// tools shows the tools of the configuration, and calls them.
type tools struct {
	served   *served
	run      commands
	version  string
	recall   func() ([]*toolbox.Toolbox, *config.Config, error)
	builtins func(ctx context.Context, box string) ([]json.RawMessage, error)
	// running is nil on a gateway.
	running func(ctx context.Context, who *Person, box, server, tool string, arguments json.RawMessage) (result json.RawMessage, found bool, err error)
	asks    *questions
}

// Person is who has a tool called on the page: is told how the call goes, and answers what the server asks.
type Person struct {
	ctx  context.Context // of the call
	q    *page.Query
	asks *questions
}

// Progress tells the parameters of a notification of progress.
func (p *Person) Progress(params []byte) {
	_ = p.q.Note(map[string]any{"progress": json.RawMessage(params)}) // who does not read any more ends the call
}

// Ask gives the result of elicitation/create, by its parameters.
func (p *Person) Ask(server string, params []byte) ([]byte, error) {
	return p.asks.ask(p.ctx, p.q, server, params)
}

// toolboxes gives the toolboxes of the configuration that the viewer may use, with what was seen of their servers.
func (t tools) toolboxes(_ context.Context, q *page.Query) (any, error) {
	boxes, cfg, err := t.recall()
	if err != nil {
		return nil, err
	}
	if q.Toolboxes != nil { // nothing depends on the others, as for a client
		some := *cfg
		some.Untrusted, some.Fault = nil, ""
		some.Toolboxes = slices.DeleteFunc(slices.Clone(cfg.Toolboxes), func(t config.Toolbox) bool { return !q.May(t.Name) })
		cfg = &some
	}
	all, costs := []shownToolbox{}, shownCosts{AtOnce: meta.AtOnce(cfg)}
	for _, b := range boxes {
		of, ok := cfg.Toolbox(b.Name)
		if !ok {
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
			costs.AtOnce += one.Tokens * tokencount.BytesPerToken
		}
		all = append(all, one)
	}
	costs.AtOnce = tokencount.Of(costs.AtOnce)
	return map[string]any{"toolboxes": all, "costs": costs, "tool_mode": cfg.ToolMode}, nil
}

func showServer(srv *toolbox.Server, entry *config.Server) shownServer {
	st := srv.Status()
	one := shownServer{Name: srv.Name, Transport: string(entry.Transport), Disabled: st.State == toolbox.Disabled}
	if entry.Problem != nil {
		one.Problem = foreign.NewText(entry.Problem.Error()).String()
	}
	one.Tools, one.Tokens = st.Tools, tokencount.Of(srv.ToolsSize())
	if !st.Seen.IsZero() {
		one.Seen = st.LastSeen()
	}
	return one
}

// list gives the definitions of a toolbox's tools as they were seen the last time. The tools of servers inside this
// process are there at once, and not kept.
func (t tools) list(ctx context.Context, _ *page.Query, a *asked) (any, error) {
	seen, err := t.run.json(ctx, about([]string{"tools", "--offline", "--json"}, a.Toolbox)...)
	if err != nil {
		return nil, err
	}
	var all []json.RawMessage
	if err := json.Unmarshal(seen, &all); err != nil {
		return nil, err
	}
	built, err := t.builtins(ctx, a.Toolbox)
	if err != nil {
		return nil, err
	}
	server := func(def json.RawMessage) string {
		var of struct{ Server string }
		_ = json.Unmarshal(def, &of) // commands of this program print objects
		return of.Server
	}
	inside := make(map[string]bool)
	for _, def := range built {
		inside[server(def)] = true
	}
	all = slices.DeleteFunc(all, func(def json.RawMessage) bool { return inside[server(def)] })
	return append(all, built...), nil
}

// open opens a toolbox for the viewer, so that its servers start, or are tried again at once.
func (t tools) open(ctx context.Context, q *page.Query, a *asked) (any, error) {
	box := wire.NewObject(nil).Text("toolbox_name", a.Toolbox).End()
	return t.ask(ctx, q, a.Toolbox, wire.NewObject(nil).Text("name", meta.OpenTool).Raw("arguments", box).End())
}

// call calls a tool: that of a server that runs for a client of this user here, or else one of the page's own.
func (t tools) call(ctx context.Context, q *page.Query, a *asked) (any, error) {
	if bytes.HasPrefix(a.Arguments, []byte("null")) || len(a.Arguments) == 0 {
		a.Arguments = []byte("{}")
	}
	if t.running != nil {
		if result, found, err := t.running(ctx, &Person{ctx, q, t.asks}, a.Toolbox, a.Server, a.Tool, a.Arguments); found || err != nil {
			return result, err
		}
	}
	return t.ask(ctx, q, a.Server, meta.CallParams(a.Toolbox, a.Server, a.Tool, a.Arguments).End())
}

// ask makes a tools/call through the front of this process, as the viewer, and gives its result. Progress is told on
// the way, and the viewer answers what is asked.
func (t tools) ask(ctx context.Context, q *page.Query, server string, params []byte) (json.RawMessage, error) {
	who := &Person{ctx, q, t.asks}
	return question.Rounds(params, func(params []byte) ([]byte, error) {
		ctx, cancel := lasting(ctx)
		defer cancel()
		return t.request(ctx, q, who, params)
	}, func(method string, params []byte) ([]byte, error) {
		if method != "elicitation/create" {
			return nil, fmt.Errorf("the server asks for %s, which the page does not have", foreign.NewName(method))
		}
		return who.Ask(server, params)
	})
}

// request makes one request of ask.
func (t tools) request(ctx context.Context, q *page.Query, who *Person, params []byte) ([]byte, error) {
	meta := fmt.Sprintf(`{"_meta":{%q:%q,%q:{"name":"workbench ui","version":%q},%q:{"elicitation":{"form":{},"url":{}}},"progressToken":"page"},`,
		eras.Version, eras.Newest(), eras.Info, t.version, eras.Capabilities)
	raw := append([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`+meta), params[1:]...)
	var line bytes.Buffer
	if err := json.Compact(&line, append(raw, '}')); err != nil {
		return nil, fmt.Errorf("the arguments are not JSON: %w", err)
	}
	reply, err := t.served.Ask(ctx, q.Principal, line.Bytes(), func(msg []byte) {
		var m wire.Message
		if wire.Scan(msg, &m) == nil && m.IsMethod("notifications/progress") {
			who.Progress(m.Bytes(m.Params))
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
