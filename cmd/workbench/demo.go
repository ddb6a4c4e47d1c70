package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy"
	"github.com/mcp-workbench/workbench/toolbox"
)

// demoStep bounds each step of the demo.
const demoStep = 30 * time.Second

func demoCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Show workbench at work, with a real client and real servers",
		Long: `Demo connects a real MCP client to workbench's front over a pipe, opens a toolbox
with the built-in workflow server and a child process, calls a tool of each,
kills the child and calls it again. Every line it prints comes from what
happened; a step that fails ends the demo with exit code 1.

It uses the first toolbox of --config that has a built-in and a stdio server, or
one of its own.`,
		Example: "  workbench demo",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return demo(cmd.Context(), env) },
	}
}

// demonstration is one run of the demo.
type demonstration struct {
	env     *environment
	out     io.Writer
	client  *client.Client
	toolbox string
	inside  string // the built-in server
	outside string // the child process
	changed chan struct{}

	mu   sync.Mutex
	pids map[string]int // of the servers that are ready
}

func demo(ctx context.Context, env *environment) error {
	cfg, err := env.demoConfig()
	if err != nil {
		return err
	}
	d := &demonstration{env: env, out: env.out, changed: make(chan struct{}, 1), pids: make(map[string]int)}
	if d.toolbox, d.inside, d.outside, err = demoServers(cfg); err != nil {
		return err
	}
	ended, err := d.connect(ctx, cfg)
	if err != nil {
		return err
	}
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"initialize", d.initialize},
		{"open the toolbox", d.open},
		{"call a tool of the built-in server", func(ctx context.Context) error { return d.call(ctx, d.inside) }},
		{"call a tool of the child process", func(ctx context.Context) error { return d.call(ctx, d.outside) }},
		{"kill the child and call again", d.kill},
	} {
		fmt.Fprintf(d.out, "\n== %s\n", step.name)
		sctx, cancel := context.WithTimeout(ctx, demoStep)
		err := step.do(sctx)
		cancel()
		if err != nil {
			_ = d.client.Close()
			<-ended
			return fmt.Errorf("demo: %s: %w", step.name, err)
		}
	}
	fmt.Fprintf(d.out, "\n== close\n")
	if err := d.client.Close(); err != nil {
		return fmt.Errorf("demo: close: %w", err)
	}
	if err := <-ended; err != nil {
		return fmt.Errorf("demo: close: %w", err)
	}
	fmt.Fprintln(d.out, "the client closed its end; workbench stopped its servers and ended")
	return nil
}

// demoConfig is the configuration named, or one with this very program as the
// child process.
func (e *environment) demoConfig() (*config.Config, error) {
	if e.configPath != "" {
		cfg, _, err := e.load()
		return cfg, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(map[string]any{"toolboxes": map[string]any{"workflows": map[string]any{
		"description": "Step-by-step workflows for development tasks",
		"mcpServers": map[string]any{
			"workflow":       map[string]any{"builtin": "workflow"},
			"workflow-child": map[string]any{"command": self, "args": []string{"workflow", "serve"}},
		},
	}}})
	if err != nil {
		return nil, err
	}
	return config.Parse("demo.json", text, e.lookup)
}

// demoServers finds what the demo is shown with.
func demoServers(cfg *config.Config) (box, inside, outside string, err error) {
	for _, t := range cfg.Toolboxes {
		inside, outside = "", ""
		for _, s := range t.Servers {
			switch {
			case s.Disabled || s.Problem != nil:
			case s.Transport == config.TransportBuiltin && inside == "":
				inside = s.Name
			case s.Transport == config.TransportStdio && outside == "":
				outside = s.Name
			}
		}
		if inside != "" && outside != "" {
			return t.Name, inside, outside, nil
		}
	}
	return "", "", "", errors.New("demo: the configuration has no toolbox with a built-in and a stdio server")
}

// connect starts the front on two pipes with a client at their other ends.
// ended delivers how the front ended.
func (d *demonstration) connect(ctx context.Context, cfg *config.Config) (ended <-chan error, err error) {
	d.env.desks.use(cfg, "", zerolog.Nop())
	opts := d.env.toolboxOptions(cfg, zerolog.Nop())
	opts.Event = d.event
	opts.Catalogue = nil // it shows a first time
	front, err := proxy.New(cfg, proxy.Options{Version: version(), Toolbox: opts})
	if err != nil {
		return nil, err
	}
	toFront, fromClient, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	toClient, fromFront, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	end := make(chan error, 1)
	go func() {
		err := wire.Serve(ctx, toFront, fromFront, front, wire.ServeOptions{})
		_ = fromFront.Close()
		_ = toFront.Close()
		end <- errors.Join(err, front.Close())
	}()
	d.client = client.NewClient(transport.NewIO(toClient, fromClient, io.NopCloser(strings.NewReader(""))),
		client.WithProtocolVersion(mcp.LATEST_LEGACY_PROTOCOL_VERSION))
	d.client.OnNotification(func(n mcp.JSONRPCNotification) {
		if n.Method == "notifications/tools/list_changed" {
			select {
			case d.changed <- struct{}{}:
			default:
			}
		}
	})
	return end, d.client.Start(ctx)
}

// event notes the processes that serve.
func (d *demonstration) event(e toolbox.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pids[e.Server] = e.Status.PID
	if e.Status.State == toolbox.Backoff || e.Status.State == toolbox.Failed {
		fmt.Fprintf(d.env.err, "server %s: %s: %v\n", e.Server, e.Status.State, e.Status.Cause)
	}
}

func (d *demonstration) pid(server string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.pids[server]
}

func (d *demonstration) initialize(ctx context.Context) error {
	var req mcp.InitializeRequest
	req.Params.ProtocolVersion = mcp.LATEST_LEGACY_PROTOCOL_VERSION
	req.Params.ClientInfo = mcp.Implementation{Name: "workbench-demo", Version: version()}
	res, err := d.client.Initialize(ctx, req)
	if err != nil {
		return err
	}
	fmt.Fprintf(d.out, "connected to %s, protocol %s; its instructions:\n\n", res.ServerInfo.Name, res.ProtocolVersion)
	for line := range strings.Lines(res.Instructions) {
		fmt.Fprintf(d.out, "    %s", line)
	}
	fmt.Fprintln(d.out)
	names, err := d.tools(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(d.out, "\nit lists %s: %s\n", count(len(names), "tool"), join(names))
	return nil
}

func (d *demonstration) tools(ctx context.Context) ([]string, error) {
	res, err := d.client.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, t := range res.Tools {
		names = append(names, t.Name)
	}
	return names, nil
}

func (d *demonstration) open(ctx context.Context) error {
	// A client lists its tools again when it is told that they changed.
	listed := make(chan error, 1)
	var names []string
	go func() {
		select {
		case <-d.changed:
			var err error
			names, err = d.tools(ctx)
			listed <- err
		case <-ctx.Done():
			listed <- errors.New("no notifications/tools/list_changed came")
		}
	}()
	res, err := d.use(ctx, "workbench_open_toolbox", map[string]any{"toolbox_name": d.toolbox})
	if err != nil {
		return err
	}
	type server struct {
		Name, State, Error string
		Tools              int
	}
	var opened struct {
		Connected int `json:"servers_connected"`
		Servers   []server
	}
	if err := json.Unmarshal([]byte(res), &opened); err != nil {
		return err
	}
	fmt.Fprintf(d.out, "opened %s: %s connected\n", d.toolbox, count(opened.Connected, "server"))
	for _, s := range opened.Servers {
		where := "inside workbench"
		if pid := d.pid(s.Name); pid != 0 {
			where = fmt.Sprintf("process %d", pid)
		}
		fmt.Fprintf(d.out, "  %s: %s, %s (%s) %s\n", s.Name, s.State, count(s.Tools, "tool"), where, s.Error)
	}
	for _, want := range []string{d.inside, d.outside} {
		ready := func(s server) bool { return s.Name == want && s.State == string(toolbox.Ready) }
		if !slices.ContainsFunc(opened.Servers, ready) {
			return fmt.Errorf("server %q is not ready", want)
		}
	}
	if err := <-listed; err != nil {
		return err
	}
	fmt.Fprintf(d.out, "the client was told that its tools changed, listed again and sees %s:\n", count(len(names), "tool"))
	for _, name := range names {
		fmt.Fprintf(d.out, "  %s\n", name)
	}
	return nil
}

// use calls a tool of the front and returns the structured content of its result, or its text if there is none.
func (d *demonstration) use(ctx context.Context, tool string, arguments map[string]any) (string, error) {
	var req mcp.CallToolRequest
	req.Params.Name = tool
	req.Params.Arguments = arguments
	res, err := d.client.CallTool(ctx, req)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, c := range res.Content {
		if t, ok := c.(mcp.TextContent); ok {
			text.WriteString(t.Text)
		}
	}
	if res.IsError {
		return "", errors.New(text.String())
	}
	if res.StructuredContent != nil {
		raw, err := json.Marshal(res.StructuredContent)
		return string(raw), err
	}
	return text.String(), nil
}

// call lists the workflows through the registered tool of a server.
func (d *demonstration) call(ctx context.Context, server string) error {
	name := toolbox.ExposedName(d.toolbox, server, "workflow_list")
	text, err := d.use(ctx, name, map[string]any{})
	if err != nil {
		return err
	}
	var list struct {
		Workflows []struct{ ID, Name string }
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return err
	}
	if len(list.Workflows) == 0 {
		return errors.New("no workflows were listed")
	}
	fmt.Fprintf(d.out, "%s answered with %s:\n", name, count(len(list.Workflows), "workflow"))
	for _, w := range list.Workflows {
		fmt.Fprintf(d.out, "  %s: %s\n", w.ID, w.Name)
	}
	return nil
}

// kill ends the child as a crash would and calls it again.
func (d *demonstration) kill(ctx context.Context) error {
	old := d.pid(d.outside)
	p, err := os.FindProcess(old)
	if err != nil {
		return err
	}
	if err := p.Kill(); err != nil {
		return err
	}
	fmt.Fprintf(d.out, "killed process %d\n", old)
	// A call that meets the dying process is lost, and says so; it is for the
	// caller to make it again.
	began := time.Now()
	for {
		err = d.call(ctx, d.outside)
		if err == nil || ctx.Err() != nil {
			break
		}
		fmt.Fprintf(d.out, "a call met the dying process: %v\n", err)
	}
	if err != nil {
		return err
	}
	now := d.pid(d.outside)
	if now == old || now == 0 {
		return fmt.Errorf("the server was not started anew: its process is %d", now)
	}
	fmt.Fprintf(d.out, "that was process %d, started by workbench; the answer took %s\n", now, time.Since(began).Round(time.Millisecond))
	return nil
}
