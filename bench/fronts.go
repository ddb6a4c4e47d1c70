package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/calls"
	"github.com/mcp-workbench/workbench/test/wiretest"
)

// The fronts, as the table names them.
const (
	directFront    = "direct"
	relayFront     = "relay"
	typedFront     = "typed"
	nameFront      = "workbench"
	useFront       = "workbench use_tool"
	markedFront    = "workbench open: true"
	httpFront      = "workbench HTTP"
	typedHTTPFront = "typed HTTP"
	workflowFront  = "workbench workflow serve"
)

// front is something that is measured: a program, and how it is spoken to.
type front struct {
	name string
	argv []string
	env  []string
	way  way
	box  bool   // it is a workbench, whose toolbox is opened first
	url  string // where it serves HTTP; "" for standard input and output
	// token is the file with its bearer token, for HTTP.
	token string
}

// conversation is a front that runs and was greeted.
type conversation struct {
	front
	caller
	*process
}

// begin starts a front and brings it to where its tools can be called.
func (f front) begin(ctx context.Context) (*conversation, error) {
	p, err := start(ctx, f.argv, f.env)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	c := &conversation{front: f, process: p}
	if err := c.prepare(ctx); err != nil {
		return nil, c.fault(err)
	}
	return c, nil
}

func (c *conversation) prepare(ctx context.Context) (err error) {
	if c.caller = newStdioClient(c.pipes); c.url != "" {
		if c.caller, err = dialHTTP(ctx, c.url, c.token); err != nil {
			return err
		}
	}
	if err = greet(c.caller); err != nil || !c.box {
		return err
	}
	if h, ok := c.caller.(*httpClient); ok {
		if err := h.listen(); err != nil {
			return err
		}
	}
	return open(c.caller)
}

// close ends the front. One that serves HTTP does not end with its input.
func (c *conversation) close() error {
	if h, ok := c.caller.(*httpClient); ok {
		h.close()
		_ = c.cmd.Process.Signal(os.Interrupt) // where there is no such signal, it is killed in the end
	}
	return c.process.close()
}

// fault ends a front, and says which one an error is from and what it has said, its last words included.
func (c *conversation) fault(err error) error {
	_ = c.close() // err came first
	return fmt.Errorf("%s: %w", c.name, c.explain(err))
}

// programs are the files that the fronts are made of.
type programs struct {
	self      string // this program
	workbench string
	trivial   string     // a program that does nothing but answer
	root      string     // the module's folder
	dir       string     // for configurations and marks, removed at the end
	record    calls.Mode // of workbench in this process; "" means the default
}

// build compiles workbench as it is released, and what its start is compared with.
func build(ctx context.Context) (p programs, clean func(), err error) {
	if p.self, err = os.Executable(); err != nil {
		return p, nil, err
	}
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return p, nil, fmt.Errorf("find the module (run this from its folder): %w", err)
	}
	p.root = strings.TrimSpace(string(root))
	if p.dir, err = os.MkdirTemp("", "workbench-bench-"); err != nil {
		return p, nil, err
	}
	clean = func() { _ = os.RemoveAll(p.dir) }
	p.workbench, p.trivial = filepath.Join(p.dir, "workbench"), filepath.Join(p.dir, "trivial")
	if err := wiretest.Build(p.dir, "cmd/workbench", "bench/trivial"); err != nil {
		clean()
		return p, nil, err
	}
	return p, clean, nil
}

// do runs a command of workbench to its end.
func (p programs) do(ctx context.Context, env []string, args ...string) error {
	cmd := exec.CommandContext(ctx, p.workbench, args...)
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("workbench %s: %w\n%s", args[0], err, out)
	}
	return nil
}

// serving is the command of workbench with a configuration.
func (p programs) serving(config string) []string {
	return []string{p.workbench, "serve", "--config", config, "--log-level", "error"}
}

// gateway is workbench over HTTP at an address, by its command for standard input and output.
func (p programs) gateway(serve []string, address string, flags ...string) front {
	token := filepath.Join(p.dir, "token")
	return front{name: httpFront, url: "http://" + address + "/mcp", token: token,
		argv: slices.Concat(serve, []string{"--http", address, "--token-file", token}, flags)}
}

// child is the command of the cheap child.
func (p programs) child(args ...string) []string {
	return slices.Concat([]string{p.self, "child"}, args)
}

// behind is the command of one of the fronts in this program, before the command of a server.
func (p programs) behind(server []string, front ...string) []string {
	return slices.Concat([]string{p.self}, front, []string{"--"}, server)
}

// serve is the command of workbench with a configuration as config writes it.
func (p programs) serve(name string, server []string, marked bool) ([]string, error) {
	path, err := p.config(name, server, marked)
	return p.serving(path), err
}

// config writes a configuration of one toolbox and one server, open from the start if marked, and returns its path.
func (p programs) config(name string, server []string, marked bool) (string, error) {
	return p.write(name, toolboxes(map[string]any{"open": marked}, entry(server)))
}

// toolboxes is a configuration of one toolbox, of which box says more, and one server.
func toolboxes(box, server map[string]any) map[string]any {
	box["description"], box["mcpServers"] = "What is measured", map[string]any{serverName: server}
	return map[string]any{"toolboxes": map[string]any{toolboxName: box}}
}

// entry is a server in a configuration, workbench's or another's.
func entry(argv []string) map[string]any {
	return map[string]any{"command": argv[0], "args": argv[1:]}
}

// write writes a file of JSON and returns its path.
func (p programs) write(name string, v any) (string, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return "", err
	}
	path := filepath.Join(p.dir, name+".json")
	return path, os.WriteFile(path, text, 0o600)
}

// fronts are all that a server is measured behind, the server itself first.
func (p programs) fronts(name string, server []string, peers []string) ([]front, error) {
	serve, err := p.serve(name, server, false)
	if err != nil {
		return nil, err
	}
	overHTTP, err := p.overHTTP(serve, server)
	if err != nil {
		return nil, err
	}
	all := append([]front{
		{name: directFront, argv: server},
		{name: relayFront, argv: p.behind(server, "relay")},
		{name: typedFront, argv: p.behind(server, "typed")},
		{name: nameFront, argv: serve, box: true},
		{name: useFront, argv: serve, box: true, way: useTool},
	}, overHTTP...)
	for _, command := range peers {
		f, err := p.peer(name, server, command)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

// peer is any other gateway, by its command line. The shell that reads it finds in $BENCH_CHILD the command of the
// server, and in $BENCH_CONFIG a file with the mcpServers that most gateways understand.
func (p programs) peer(name string, server []string, command string) (front, error) {
	path, err := p.write(name+"-peer", map[string]any{"mcpServers": map[string]any{serverName: entry(server)}})
	return front{
		name: filepath.Base(strings.Trim(strings.Fields(command + " ?")[0], `"'`)),
		argv: []string{"sh", "-c", "exec " + command},
		env:  []string{"BENCH_CONFIG=" + path, "BENCH_CHILD=" + strings.Join(server, " ")},
	}, err
}
