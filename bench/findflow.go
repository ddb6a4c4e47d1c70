package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/mcp-workbench/workbench/internal/find"
)

// The program is given so many toolboxes of so many tools.
const (
	flowBoxes = 50
	flowTools = 20
)

// flowBox is a toolbox of the flow, with one server.
type flowBox struct {
	name, about, file string
	tools             []find.Entry
}

// measureFlow has a client, scripted as a model would act, do one task with the built program: with all tools listed,
// by opening one of n toolboxes, and by finding the tool. What it is told is counted in tokens of four bytes.
func measureFlow(ctx context.Context, p programs, n int, servers []find.Server, tasks []sharedTask, out io.Writer) error {
	boxes, err := flowToolboxes(p.dir, n, servers)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\none task, %d toolboxes, %d tools\tbefore the first call\tin all\tcalls\n", n, n*flowTools)
	for _, way := range []struct{ name, mode, open string }{{"flat", "auto", "true"}, {"toolboxes", "auto", "false"}, {"search", "search", "false"}} {
		config := filepath.Join(p.dir, way.name+".json")
		if err := writeFlow(config, p, boxes, way.mode, way.open); err != nil {
			return err
		}
		home := filepath.Join(p.dir, "home") // p.dir has the program where the folder of what it keeps would be
		env := []string{"HOME=" + home, "XDG_CACHE_HOME=" + home, "XDG_STATE_HOME=" + home, "XDG_CONFIG_HOME=" + home}
		if err := p.do(ctx, env, "index", "--config", config); err != nil {
			return err
		}
		proc, err := start(ctx, []string{p.workbench, "serve", "--config", config}, env)
		if err != nil {
			return err
		}
		m := modelClient{caller: newStdioClient(proc.pipes)}
		err = m.work(way.name, boxes, tasks)
		if ended := proc.close(); err == nil {
			err = ended
		}
		if err != nil {
			return fmt.Errorf("%s: %w", way.name, err)
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\n", way.name, m.fixed/4, m.told/4, m.calls)
	}
	return w.Flush()
}

// flowToolboxes spreads the tools over n toolboxes, again under other names where there are too few.
func flowToolboxes(dir string, n int, servers []find.Server) (boxes []flowBox, err error) {
	var all []find.Entry
	for _, s := range servers {
		all = append(all, s.Entries...)
	}
	for i, distinct := 0, len(all); len(all) < n*flowTools; i++ {
		e := all[i%distinct]
		e.Name += "_again"
		all = append(all, e)
	}
	for i := range n {
		b := flowBox{name: fmt.Sprintf("box-%02d", i), tools: all[i*flowTools : (i+1)*flowTools]}
		b.about = "Tools such as " + b.tools[0].Name + ", " + b.tools[flowTools/2].Name + " and " + b.tools[flowTools-1].Name
		b.file = filepath.Join(dir, b.name+".json")
		type tool struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			InputSchema json.RawMessage `json:"inputSchema"`
		}
		var list struct {
			Tools []tool `json:"tools"`
		}
		for _, e := range b.tools {
			list.Tools = append(list.Tools, tool{e.Name, e.Description, e.Schema})
		}
		raw, err := json.Marshal(list)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(b.file, raw, 0o600); err != nil {
			return nil, err
		}
		boxes = append(boxes, b)
	}
	return boxes, nil
}

func writeFlow(path string, p programs, boxes []flowBox, mode, open string) error {
	var toolboxes []string
	for _, b := range boxes {
		argv := p.child("--list", b.file)
		args, err := json.Marshal(argv[1:])
		if err != nil {
			return err
		}
		toolboxes = append(toolboxes, fmt.Sprintf(`%q: {"description": %q, "open": %s, "mcpServers": {"server": {"command": %q, "args": %s}}}`, b.name, b.about, open, argv[0], args))
	}
	return os.WriteFile(path, []byte(`{"toolMode": "`+mode+`", "openTimeout": "60s", "toolboxes": {`+strings.Join(toolboxes, ",\n")+`}}`), 0o600)
}

// modelClient is a client that counts what its model is told.
type modelClient struct {
	caller
	fixed, told, calls int // bytes before the first call, bytes in all
}

// work does the task: it calls a tool that is needed for one of the tasks, and knows its name as soon as it is told.
func (m *modelClient) work(way string, boxes []flowBox, tasks []sharedTask) error {
	line, err := m.Call("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}`)
	if err != nil {
		return err
	}
	var hello struct{ Instructions string }
	if err := decode(line, &hello); err != nil {
		return err
	}
	if err := m.Notify("notifications/initialized"); err != nil {
		return err
	}
	list, err := m.list()
	if err != nil {
		return err
	}
	m.fixed = len(hello.Instructions) + len(list)
	answers := 0
	query, needed, box := findable(boxes, tasks)
	switch name := box.name + "__server__" + needed; way {
	case "flat":
		answers, err = m.tool(name, `{}`)
	case "toolboxes":
		var opened, called int
		if opened, err = m.tool("workbench_open_toolbox", fmt.Sprintf(`{"toolbox_name":%q}`, box.name)); err == nil {
			if list, err = m.list(); err == nil {
				called, err = m.tool(name, `{}`)
			}
		}
		answers = opened + called
	default:
		var found, called int
		if found, err = m.tool("workbench_find_tools", fmt.Sprintf(`{"query":%q}`, query), needed); err == nil {
			called, err = m.tool("workbench_use_tool", fmt.Sprintf(`{"toolbox_name":%q,"tool_name":"server/%s"}`, box.name, needed))
		}
		answers = found + called
	}
	m.told = len(hello.Instructions) + len(list) + answers // the list as it is at the end
	return err
}

func (m *modelClient) list() (json.RawMessage, error) {
	line, err := m.Call("tools/list", "{}")
	if err != nil {
		return nil, err
	}
	var r struct{ Tools json.RawMessage }
	return r.Tools, decode(line, &r)
}

// tool calls a tool and gives the length of the text that it answers with, which is to have some words.
func (m *modelClient) tool(name, arguments string, words ...string) (size int, err error) {
	m.calls++
	line, err := m.Call("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, arguments))
	if err != nil {
		return 0, err
	}
	text, err := textOf(line)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	for _, w := range words {
		if !strings.Contains(text, w) {
			return 0, fmt.Errorf("%s: want %q in %s", name, w, text)
		}
	}
	return len(text), nil
}

// findable gives the first query whose answer names a tool that its task needs.
func findable(boxes []flowBox, tasks []sharedTask) (query, needed string, box flowBox) {
	var servers []find.Server
	for _, b := range boxes {
		servers = append(servers, find.Server{Toolbox: b.name, Name: "server", Description: b.about, Entries: b.tools})
	}
	x := find.New(slices.Values(servers))
	for _, t := range tasks {
		for _, q := range t.Queries {
			text := q.Server + ". " + q.Tool
			for _, h := range x.Search(text)[:3] {
				for _, n := range t.Needed {
					if e := &servers[h.Server].Entries[h.Entry]; e.Name == n {
						return text, n, boxes[h.Server]
					}
				}
			}
		}
	}
	return "", "", flowBox{}
}
