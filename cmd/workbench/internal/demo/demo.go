// Package demo has the command that shows what workbench does.
package demo

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

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/pause"
	"github.com/mcp-workbench/workbench/internal/tokencount"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy"
	"github.com/mcp-workbench/workbench/toolbox"
)

// demoStep bounds each step of the demo.
const demoStep = 2 * time.Minute

func Command(env *opening.Environment) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Show workbench at work, with a real client and real servers",
		Long: `Demo connects a real MCP client to workbench over a pipe, opens a toolbox, calls a
tool of a server, kills the process of that server and calls the tool again. Then, in
a temporary folder, it finds a project's configuration that nobody has trusted, and
calls a tool that has changed since it was agreed to. Every printed line shows
something that really happened. If a step fails, the demo ends with exit code 1.

It uses the first toolbox of --config that has a server to start, or a toolbox of its
own.`,
		Example: "  workbench demo\n  workbench demo --config workbench-config.json",
		Args:    cli.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return demo(cmd.Context(), env) },
	}
}

// demonstration is one run of the demo.
type demonstration struct {
	env     *opening.Environment
	out     io.Writer
	paint   terminal.Paint
	pause   time.Duration // after each step, for a person to read it
	client  *client.Client
	toolbox string
	others  []string       // toolboxes
	ready   []openedServer // that run as processes
	entry   int            // bytes of what the client was told at first
	changed chan struct{}

	mu   sync.Mutex
	pids map[string]int // of the servers that are ready
}

// openedServer is a server as the result of an open has it.
type openedServer struct {
	Name, State, Error string
	Tools              int
}

// readingTime is how long a person is given for each step.
const readingTime = 1500 * time.Millisecond

func demo(ctx context.Context, env *opening.Environment) error {
	cfg, err := demoConfig(env)
	if err != nil {
		return err
	}
	d := &demonstration{env: env, out: env.Out, paint: env.Paint(env.Out), changed: make(chan struct{}, 1), pids: make(map[string]int)}
	if terminal.Is(env.Out) {
		d.pause = readingTime
	}
	servers := 0
	for _, t := range cfg.Toolboxes {
		servers += len(t.Servers)
		starts := slices.ContainsFunc(t.Servers, func(s config.Server) bool {
			return !s.Disabled && s.Problem == nil && s.Transport == config.TransportStdio
		})
		if starts && d.toolbox == "" {
			d.toolbox = t.Name
		} else {
			d.others = append(d.others, t.Name)
		}
	}
	if d.toolbox == "" {
		return errors.New("demo: the configuration has no toolbox with a server to start")
	}
	ended, err := d.connect(ctx, cfg)
	if err != nil {
		return err
	}
	fmt.Fprintln(d.out, d.paint.Bold(fmt.Sprintf("One entry in the client, %s behind it", terminal.Count(servers, "server"))))
	for i, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"A client connects, and its agent reads", d.initialize},
		{"The agent opens " + d.toolbox, d.open},
		{"It calls a tool", d.call},
		{"The process is killed, and the next call works", d.kill},
		{"A project's file that nobody has trusted is not run", d.stranger},
		{"A tool that changed since it was agreed to is held", d.held},
		{"What that saves in every conversation", d.tokens},
	} {
		fmt.Fprintf(d.out, "\n%s\n", d.paint.Bold(fmt.Sprintf("%d  %s", i+1, step.name)))
		sctx, cancel := context.WithTimeout(ctx, demoStep)
		err := step.do(sctx)
		cancel()
		if err != nil {
			_ = d.client.Close()
			<-ended
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return fmt.Errorf("demo: %s: %w", strings.ToLower(step.name[:1])+step.name[1:], err)
		}
		_ = pause.For(ctx, d.pause)
	}
	if err := d.client.Close(); err != nil {
		return fmt.Errorf("demo: close: %w", err)
	}
	if err := <-ended; err != nil {
		return fmt.Errorf("demo: close: %w", err)
	}
	fmt.Fprintf(d.out, "\nNext: write your servers into workbench-config.json, then %s and %s.\n", d.paint.Bold("workbench check"), d.paint.Bold("workbench tools"))
	return nil
}

// demoConfig is the configuration named, or one with this very program as the child process.
func demoConfig(e *opening.Environment) (*config.Config, error) {
	if e.ConfigPath != "" {
		cfg, _, err := e.Load()
		return cfg, err
	}
	text, err := json.Marshal(map[string]any{"toolboxes": map[string]any{"workflows": map[string]any{
		"description": "Step-by-step workflows for development tasks",
		"mcpServers":  map[string]any{"workflow": map[string]any{"command": e.Program, "args": []string{"workflow", "serve"}}},
	}}})
	if err != nil {
		return nil, err
	}
	return config.Parse("demo.json", text, e.Lookup)
}

// connect starts the front on two pipes with a client at their other ends. ended delivers how the front ended.
func (d *demonstration) connect(ctx context.Context, cfg *config.Config) (ended <-chan error, err error) {
	d.env.Use(cfg, "", zerolog.Nop())
	opts := d.env.ToolboxOptions(cfg, zerolog.Nop())
	opts.Event = d.event
	opts.Catalogue = nil // it shows a first time
	front, err := proxy.New(cfg, proxy.Options{Version: cli.Version(), Toolbox: opts})
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
}

func (d *demonstration) pid(server string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.pids[server]
}

// maxDemoLines is how many lines of the instructions are shown, and demoWidth how wide a line is.
const (
	maxDemoLines = 3
	demoWidth    = 96
)

func (d *demonstration) initialize(ctx context.Context) error {
	res, err := greet(ctx, d.client)
	if err != nil {
		return err
	}
	lines := slices.DeleteFunc(strings.Split(res.Instructions, "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
	for _, line := range lines[:min(len(lines), maxDemoLines)] {
		fmt.Fprintf(d.out, "   %s\n", d.paint.Faint(cut.Within(line, demoWidth)))
	}
	if more := len(lines) - maxDemoLines; more > 0 {
		fmt.Fprintf(d.out, "   %s\n", d.paint.Faint(fmt.Sprintf("… %d lines more", more)))
	}
	names, size, err := d.tools(ctx)
	if err != nil {
		return err
	}
	d.entry = size + len(res.Instructions)
	fmt.Fprintf(d.out, "   it has %s; no server runs yet\n", terminal.Count(len(names), "tool"))
	return nil
}

func greet(ctx context.Context, c *client.Client) (*mcp.InitializeResult, error) {
	var req mcp.InitializeRequest
	req.Params.ProtocolVersion = mcp.LATEST_LEGACY_PROTOCOL_VERSION
	req.Params.ClientInfo = mcp.Implementation{Name: "workbench-demo", Version: cli.Version()}
	return c.Initialize(ctx, req)
}

// tools lists the tools, and says how many bytes their definitions have.
func (d *demonstration) tools(ctx context.Context) (tools []mcp.Tool, size int, err error) {
	res, err := d.client.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return nil, 0, err
	}
	raw, err := json.Marshal(res.Tools)
	return res.Tools, len(raw), err
}

func (d *demonstration) open(ctx context.Context) error {
	res, err := use(ctx, d.client, "workbench_open_toolbox", map[string]any{"toolbox_name": d.toolbox})
	if err != nil {
		return err
	}
	var opened struct{ Servers []openedServer }
	if err := json.Unmarshal([]byte(res), &opened); err != nil {
		return err
	}
	wide := 0
	for _, s := range opened.Servers {
		wide = max(wide, len(s.Name))
	}
	for _, s := range opened.Servers {
		if s.State != string(toolbox.Ready) {
			fmt.Fprintf(d.out, " %s %-*s  %s: %s\n", d.paint.Bad("✗"), wide, s.Name, s.State, cut.Within(s.Error, demoWidth-wide-len(s.State)))
			continue
		}
		where := "inside workbench"
		if pid := d.pid(s.Name); pid != 0 {
			where = fmt.Sprintf("process %d", pid)
			d.ready = append(d.ready, s)
		}
		fmt.Fprintf(d.out, " %s %-*s  ready, %s, %s\n", d.paint.Good("✓"), wide, s.Name, terminal.Count(s.Tools, "tool"), where)
	}
	if len(d.ready) == 0 {
		return errors.New("no server runs")
	}
	return nil
}

// use calls a tool of the front and returns the structured content of its result, or its text if there is none.
func use(ctx context.Context, c *client.Client, tool string, arguments map[string]any) (string, error) {
	var req mcp.CallToolRequest
	req.Params.Name = tool
	req.Params.Arguments = arguments
	res, err := c.CallTool(ctx, req)
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

// call calls a tool of the first server.
func (d *demonstration) call(ctx context.Context) error {
	tool, text, err := d.callServer(ctx, d.ready[0].Name)
	if err == nil {
		text = strings.Join(strings.Fields(foreign.Block(text)), " ")
		fmt.Fprintf(d.out, "   %s\n   → %s\n", tool, cut.Within(text, demoWidth))
	}
	return err
}

// callServer calls a tool of a server that needs no arguments.
func (d *demonstration) callServer(ctx context.Context, server string) (tool, text string, err error) {
	tools, _, err := d.tools(ctx)
	if err != nil {
		return "", "", err
	}
	prefix := toolbox.ExposedPrefix(d.toolbox, server)
	i := slices.IndexFunc(tools, func(t mcp.Tool) bool {
		return strings.HasPrefix(t.Name, prefix) && len(t.InputSchema.Required) == 0
	})
	if i < 0 {
		return "", "", fmt.Errorf("server %q has no tool that can be called without arguments", server)
	}
	text, err = use(ctx, d.client, tools[i].Name, map[string]any{})
	return tools[i].Name, text, err
}

// kill ends the child as a crash would and calls it again.
func (d *demonstration) kill(ctx context.Context) error {
	server := d.ready[0].Name
	old := d.pid(server)
	p, err := os.FindProcess(old)
	if err != nil {
		return err
	}
	if err := p.Kill(); err != nil {
		return err
	}
	fmt.Fprintf(d.out, "   kill -9 %d (%s)\n", old, server)
	// A call that meets the dying process is lost, and says so; it is for the caller to make it again.
	began := time.Now()
	for {
		_, _, err = d.callServer(ctx, server)
		if err == nil || ctx.Err() != nil {
			break
		}
		fmt.Fprintf(d.out, "   a call met the dying process, and was told: %s\n", cut.Within(err.Error(), demoWidth-45))
	}
	if err != nil {
		return err
	}
	now := d.pid(server)
	if now == old || now == 0 {
		return fmt.Errorf("the server was not started anew: its process is %d", now)
	}
	fmt.Fprintf(d.out, "   answered by process %d, which workbench had started, %s after the kill\n", now, time.Since(began).Round(time.Millisecond))
	return nil
}

// tokens counts what the definitions of all servers take, and what one entry does.
func (d *demonstration) tokens(ctx context.Context) error {
	for _, other := range d.others {
		if _, err := use(ctx, d.client, "workbench_open_toolbox", map[string]any{"toolbox_name": other}); err != nil {
			return err
		}
	}
	tools, _, err := d.tools(ctx)
	if err != nil {
		return err
	}
	tools = slices.DeleteFunc(tools, func(t mcp.Tool) bool { return !strings.Contains(t.Name, "__") })
	raw, err := json.Marshal(tools)
	if err != nil {
		return err
	}
	fmt.Fprintf(d.out, "   definitions of all %d tools  %6d tokens\n   the entry of workbench      %6d tokens, until a toolbox is opened\n",
		len(tools), tokencount.Of(len(raw)), tokencount.Of(d.entry))
	return nil
}
