package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/openfile"
)

// elsewhere is a user with a home and a project of their own in a temporary folder, where this program runs as a
// process of its own: what it would start, trust and write down there harms nobody.
type elsewhere struct {
	self, dir, home, project string
	environ                  []string
}

func (d *demonstration) elsewhere() (*elsewhere, error) {
	dir, err := openfile.MakeTemporary("workbench-demo")
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil { // as it is called in what the agent is told
		return nil, err
	}
	e := &elsewhere{self: d.env.Program, dir: dir, home: filepath.Join(dir, "home"), project: filepath.Join(dir, "project")}
	places := []string{"HOME", "USERPROFILE", "LOCALAPPDATA"}
	for _, v := range d.env.Environ {
		name, _, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, "XDG_") && !strings.HasPrefix(name, "WORKBENCH_") && !slices.Contains(places, name) {
			e.environ = append(e.environ, v)
		}
	}
	for _, name := range places {
		e.environ = append(e.environ, name+"="+e.home)
	}
	return e, errors.Join(openfile.MakeFolder(e.project, 0o700), openfile.MakeFolder(e.home, 0o700))
}

func (e *elsewhere) remove() { _ = os.RemoveAll(e.dir) }

// configure writes a configuration of one toolbox with one server.
func (e *elsewhere) configure(path string, toolbox map[string]any, name string, server map[string]any) error {
	toolbox["mcpServers"] = map[string]any{name: server}
	text, err := json.Marshal(map[string]any{"toolboxes": map[string]any{name: toolbox}})
	if err != nil {
		return err
	}
	return errors.Join(openfile.MakeFolder(filepath.Dir(path), 0o700), openfile.PutNew(path, text))
}

// command is this program in the folder of the project.
func (e *elsewhere) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, e.self, append(args, "--log-level", "off")...)
	cmd.Dir, cmd.Env = e.project, e.environ
	return cmd
}

// run runs this program to its end.
func (e *elsewhere) run(ctx context.Context, args ...string) error {
	if said, err := e.command(ctx, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("workbench %s: %w: %s", args[0], err, said)
	}
	return nil
}

// connect starts this program as clients do.
func (e *elsewhere) connect(ctx context.Context) (*client.Client, *mcp.InitializeResult, error) {
	front := transport.NewStdioWithOptions(e.self, nil, nil, transport.WithCommandFunc(
		func(context.Context, string, []string, []string) (*exec.Cmd, error) {
			return e.command(ctx, "serve"), nil
		}))
	c := client.NewClient(front, client.WithProtocolVersion(mcp.LATEST_LEGACY_PROTOCOL_VERSION))
	if err := c.Start(ctx); err != nil {
		return nil, nil, err
	}
	hello, err := greet(ctx, c)
	if err != nil {
		_ = c.Close()
	}
	return c, hello, err
}

// told prints the beginning of what an agent was told, without the temporary folder.
func (d *demonstration) told(e *elsewhere, text string) {
	text = strings.ReplaceAll(text, e.dir+string(filepath.Separator), "")
	const indent = "     "
	text = terminal.Wrap(cut.Within(strings.Join(strings.Fields(text), " "), 2*demoWidth-16), indent, demoWidth)
	fmt.Fprintf(d.out, "   → %s", strings.TrimPrefix(text, indent))
}

// stranger has workbench started in a project whose file somebody else wrote.
func (d *demonstration) stranger(ctx context.Context) error {
	e, err := d.elsewhere()
	if err != nil {
		return err
	}
	defer e.remove()
	mark := filepath.Join(e.dir, "mark")
	there := func() (bool, error) {
		_, err := os.Stat(mark)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return err == nil, err
	}
	err = e.configure(filepath.Join(e.project, config.FileName), map[string]any{"open": true}, "trap",
		map[string]any{"command": e.self, "args": []string{"workflow", "serve", "--log-file", mark}})
	if err != nil {
		return err
	}
	c, hello, err := e.connect(ctx)
	if err != nil {
		return err
	}
	_, said := use(ctx, c, "workbench_open_toolbox", map[string]any{"toolbox_name": "trap"})
	if err := c.Close(); err != nil {
		return err
	}
	_, note, told := strings.Cut(hello.Instructions, "\nNote: ")
	ran, err := there()
	switch {
	case err != nil:
		return err
	case said == nil || ran:
		return errors.New("the project's server was started")
	case !told || !strings.Contains(note, e.project):
		return errors.New("the agent was told nothing of the project's file")
	}
	d.told(e, note)
	// The same server does leave its mark once the file is trusted, or the mark would say nothing.
	if err := errors.Join(e.run(ctx, "trust", "--yes"), e.run(ctx, "tools", "trap")); err != nil {
		return err
	}
	if ran, err = there(); err != nil || !ran {
		return errors.Join(errors.New("the project's server left no mark when it was trusted"), err)
	}
	fmt.Fprintln(d.out, "   its server left no mark; after workbench trust it is started, and does")
	return nil
}
