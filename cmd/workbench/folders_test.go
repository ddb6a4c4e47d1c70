package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// A worker is a client that works in a folder, "" for one that does not say where.
type worker struct {
	t   *testing.T
	mcp *client.Client

	mu     sync.Mutex
	folder string
}

func (w *worker) ListRoots(context.Context, mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return &mcp.ListRootsResult{Roots: []mcp.Root{{URI: "file:///" + strings.TrimPrefix(filepath.ToSlash(w.folder), "/")}}}, nil
}

// work connects a worker in the legacy era, with a stream for what the server says by itself or without, or in the
// modern one.
func work(t *testing.T, url, folder, version string, listens bool) *worker {
	t.Helper()
	var ways []transport.StreamableHTTPCOption
	if listens {
		//lint:ignore SA1019 the stream of GET is what the revisions before 2026-07-28 listen by
		ways = append(ways, transport.WithContinuousListening())
	}
	way, err := transport.NewStreamableHTTP(url, ways...)
	do(t, err)
	w := &worker{t: t, folder: folder}
	opts := []client.ClientOption{client.WithProtocolVersion(version)}
	if folder != "" {
		opts = append(opts, client.WithRootsHandler(w))
	}
	w.mcp = client.NewClient(way, opts...)
	do(t, w.mcp.Start(t.Context()))
	t.Cleanup(func() { _ = w.mcp.Close() }) // The gateway may have ended.
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion, hello.Params.ClientInfo = version, mcp.Implementation{Name: "worker", Version: "1"}
	_, err = w.mcp.Initialize(t.Context(), hello)
	do(t, err)
	return w
}

// call calls a tool of the workflow server, and gives the structured content.
func (w *worker) call(tool string, arguments map[string]any) string {
	w.t.Helper()
	var call mcp.CallToolRequest
	call.Params.Name = "workbench_use_tool"
	call.Params.Arguments = map[string]any{"toolbox_name": "w", "tool_name": tool, "arguments": arguments}
	result, err := w.mcp.CallTool(w.t.Context(), call)
	do(w.t, err)
	text, err := json.Marshal(result.StructuredContent)
	do(w.t, err)
	return string(text)
}

// sees lists the workflows of projects that the worker is offered.
func (w *worker) sees() (ids []string) {
	w.t.Helper()
	var list struct {
		Workflows []struct{ ID string }
	}
	do(w.t, json.Unmarshal([]byte(w.call("workflow_list", map[string]any{"query": "projectwide"})), &list))
	for _, one := range list.Workflows {
		ids = append(ids, one.ID)
	}
	return ids
}

// project makes a folder with a workflow.
func project(t *testing.T, id string) string {
	t.Helper()
	dir := t.TempDir()
	do(t, os.Mkdir(filepath.Join(dir, "workflows"), 0o755))
	text := fmt.Sprintf(`{"id":%q,"name":"Projectwide","description":"d","version":"1.0.0","steps":[{"id":"one","title":"One","prompt":"p"},{"id":"two","title":"Two","prompt":"p"}]}`, id)
	do(t, os.WriteFile(filepath.Join(dir, "workflows", "w.json"), []byte(text), 0o644))
	return dir
}

// One gateway offers each client the workflows of the folder that it works in, in both eras, and follows it into
// another.
func TestWorkflowsOfEachClient(t *testing.T) {
	t.Chdir(project(t, "of-the-gateway"))
	environ := []string{"HOME=" + t.TempDir()}
	config := filepath.Join(t.TempDir(), "workbench-config.json")
	do(t, os.WriteFile(config, []byte(`{"toolboxes":{"w":{"mcpServers":{"flows":{"builtin":"workflow"}}}}}`), 0o644))
	gateway := serveForTest(t, environ, "--no-token", "--config", config)
	const legacy, modern = "2025-11-25", "2026-07-28"
	workers := map[string]*worker{
		"of-the-first":   work(t, gateway.url, project(t, "of-the-first"), legacy, true),
		"of-the-second":  work(t, gateway.url, project(t, "of-the-second"), legacy, false),
		"of-the-third":   work(t, gateway.url, project(t, "of-the-third"), modern, false),
		"of-the-fourth":  work(t, gateway.url, project(t, "of-the-fourth"), modern, false),
		"of-the-gateway": work(t, gateway.url, "", legacy, false),
	}
	var all sync.WaitGroup
	for id, w := range workers {
		all.Go(func() {
			for range 3 {
				if got := w.sees(); !slices.Equal(got, []string{id}) {
					t.Errorf("got %q, want %s", got, id)
				}
			}
		})
	}
	all.Wait()
	if t.Failed() {
		return
	}

	// A run goes on with the file of its project.
	w := workers["of-the-third"]
	if got := w.call("workflow_start", map[string]any{"workflowId": "of-the-third", "goal": "third goal"}); !strings.Contains(got, `"id":"one"`) {
		t.Errorf("got %s, want the first step", got)
	}
	if got := w.call("workflow_resume", map[string]any{"query": "third goal"}); !strings.Contains(got, `"id":"one"`) || strings.Contains(got, "warnings") {
		t.Errorf("got %s, want the first step and no word of another file", got)
	}

	// Prompts are those of the folder, too, also when the client goes to another.
	w = workers["of-the-first"]
	var open mcp.CallToolRequest
	open.Params.Name, open.Params.Arguments = "workbench_open_toolbox", map[string]any{"toolbox_name": "w"}
	_, err := w.mcp.CallTool(t.Context(), open)
	do(t, err)
	w.offers("w__flows__of-the-first")
	w.mu.Lock()
	w.folder = project(t, "of-the-fifth")
	w.mu.Unlock()
	do(t, w.mcp.RootListChanges(t.Context()))
	w.offers("w__flows__of-the-fifth")
	if got := w.sees(); !slices.Equal(got, []string{"of-the-fifth"}) {
		t.Errorf("got %q, want those of the new folder", got)
	}

	// Where clients may be on other machines, their folders are not of this one.
	gateway = serveForTest(t, environ, "--no-token", "--config", config, "--allow-host", "tools.example")
	if got := work(t, gateway.url, project(t, "of-another-machine"), legacy, true).sees(); !slices.Equal(got, []string{"of-the-gateway"}) {
		t.Errorf("got %q, want those of the gateway alone", got)
	}
}

// offers waits until the worker is offered a prompt, and none that is another project's.
func (w *worker) offers(name string) {
	w.t.Helper()
	got := ""
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		list, err := w.mcp.ListPrompts(w.t.Context(), mcp.ListPromptsRequest{})
		do(w.t, err)
		got = ""
		for _, p := range list.Prompts {
			if strings.Contains(p.Name, "of-the-") {
				got += p.Name
			}
		}
		if got == name {
			return
		}
	}
	w.t.Errorf("got the prompts %s, want %s", got, name)
}
