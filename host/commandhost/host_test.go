package commandhost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/host/toolcaller"
	"github.com/mcp-workbench/workbench/host/workflowhost"
	"github.com/mcp-workbench/workbench/internal/model/modeltest"
	"github.com/mcp-workbench/workbench/toolbox"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// A folder's commands call tools of the configuration, make requests and run programs, and a configuration that is
// edited counts for those who come later.
func TestFolder(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("its programs are those of Unix")
	}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "/stock", http.StatusFound)
			return
		}
		fmt.Fprintf(w, `{"copies":3,"key":%q}`, r.Header.Get("X-Key"))
	}))
	defer api.Close()
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"orders/workflow.yaml":        "name: Orders\ndescription: d\npurpose: p\ntoolbox: flows\n",
		"orders/commands/list.yaml":   "description: List\neffect: read\ntool: workflow/workflow_list\n",
		"orders/commands/stock.yaml":  "description: Stock\neffect: read\nhttp: {url: \"" + api.URL + "/stock\", headers: {X-Key: \"${STOCK_KEY}\"}}\noutputs: {copies: /copies, key: /key}\nreply: \"{copies} copies, key {key}\"\n",
		"orders/commands/away.yaml":   "description: Away\neffect: read\nhttp: {url: \"" + api.URL + "/away\"}\n",
		"orders/commands/echo.yaml":   "description: Echo\neffect: read\nparams: {word: {type: string, description: w}}\nprocess: {argv: [echo, \"said {word}\"]}\n",
		"orders/commands/fail.yaml":   "description: Fail\neffect: read\nprocess: {argv: [sh, -c, \"echo it broke >&2; exit 3\"]}\n",
		"orders/commands/hang.yaml":   "description: Hang\neffect: read\nprocess: {argv: [sh, -c, \"sleep 300\"], timeout: 200ms}\n",
		"orders/commands/absent.yaml": "description: Absent\neffect: read\nprocess: {argv: [no-such-program]}\n",
	})
	text := `{"toolboxes": {"flows": {"description": "%s", "mcpServers": {"workflow": {"builtin": "workflow"}}},
		"orders": {"mcpServers": {"desk": {"builtin": "commands", "commands": "` + filepath.ToSlash(filepath.Join(dir, "orders")) + `"}}}}}`
	cfg := parse(t, fmt.Sprintf(text, "d"), nil)
	var tools *toolcaller.Caller
	flows := workflowhost.New(workflowhost.Options{Places: &workflowhost.Places{Project: func() (string, error) { return dir, nil }}})
	tools = toolcaller.New(cfg, toolcaller.Options{Toolbox: func() toolbox.Options {
		return toolbox.Options{Builtins: map[string]toolbox.Builtin{config.BuiltinWorkflow: flows.Builtin}}
	}})
	defer tools.Close()
	h := newHost(t, fmt.Sprintf(text, "d"), tools, zerolog.Nop(), map[string]string{"STOCK_KEY": "k1", "PATH": os.Getenv("PATH")})
	d := &desktop{t: t, host: h, box: "orders"}
	d.begin()
	for command, want := range map[string]string{
		"list":                     `"success":true`,
		"stock":                    `3 copies, key k1`,
		"away":                     `"success":false`,
		"echo <word>hello</word>":  `said hello`,
		"fail":                     `exit status 3; its last words: \"it broke\"`,
		"hang":                     `it did not end within 200ms and was stopped`,
		"absent":                   `no-such-program`,
		"echo":                     `"missing":["word"]`,
		"echo <word>a</word> and ": `"code":422`,
	} {
		if got := d.execute(command); !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %q", command, got, want)
		}
	}

	writeFiles(t, dir, map[string]string{"orders/commands/new.yaml": "description: New\neffect: read\nprocess: {argv: [echo, new]}\n"})
	now := parse(t, fmt.Sprintf(text, "now described"), nil)
	tools.Reload(now)
	h.Reload(now)
	if got := d.execute("new"); !strings.Contains(got, `"response_text":"new`) {
		t.Errorf("got %s after another configuration, want the new command", got)
	}
	if got := d.execute("list"); !strings.Contains(got, `"success":true`) {
		t.Errorf("got %s, want the tools to be called still", got)
	}
}

// A configuration with models has its commands worked by them: planned and carried out, chosen, and summed up. The key
// of the endpoint goes there and nowhere else.
func TestModels(t *testing.T) {
	t.Parallel()
	const key = "sk-canary-271828"
	endpoint := modeltest.New(t,
		modeltest.Text("1. open_order"), modeltest.Calls("open_order", `{"order_id":"44821"}`), modeltest.Calls("Order__cancel_order", `{"reason":"late"}`), modeltest.Text("It is cancelled."),
		modeltest.Calls("search_books", `{"words":"Woolf"}`),
		modeltest.Body(500, "no "+key), modeltest.Body(500, ""), modeltest.Body(500, ""),
		modeltest.Calls("keep_conversation", `{"topic":"A late order","summary":"Order 44821 was cancelled."}`),
	)
	var log bytes.Buffer
	t.Cleanup(func() { // when the host is closed
		if text := log.String(); strings.Contains(text, "canary") || !strings.Contains(text, "a model was asked") {
			t.Errorf("the log must tell of the model and not its key:\n%s", text)
		}
	})
	h := newHost(t, `{"models": {"baseUrl": "`+endpoint.URL+`", "apiKey": "${KEY}", "default": "m"},
		"toolboxes": {"shop": {"mcpServers": {"desk": {"builtin": "commands", "commands": "example"}}}}}`, noTools{}, zerolog.New(zerolog.SyncWriter(&log)), map[string]string{"KEY": key})
	d := &desktop{t: t, host: h, box: "shop"}
	session := ""
	for _, tt := range []struct {
		operation, body string
		status          int
		want            string // a piece of the answer
	}{
		{"initialize", `{}`, 200, `"session_id":"`},
		{"invoke_agent", `"user_query":"` + strings.Repeat("a", 32<<10+1) + `"`, 422, "user_query is longer than 32768 bytes"},
		{"invoke_agent", `"user_query":"cancel the order of Ada Reed, it is late"`, 200, `"form":{"properties":{"confirm":`},
		{"invoke_agent", `"user_query":"yes"`, 200, `"response":"It is cancelled."`},
		{"invoke_assistant", `"user_query":"would there be anything by Woolf for me"`, 200, "The Waves"},
		{"new_conversation", ``, 500, "HTTP 500"},
		{"new_conversation", ``, 200, `"status":"ok"`},
		{"conversations", ``, 200, `"topic":"A late order","summary":"Order 44821 was cancelled."`},
	} {
		body := tt.body
		if session != "" {
			body = strings.TrimSuffix(`{"session_id":"`+session+`",`+body, ",") + "}"
		}
		method, path := "POST", "/"+tt.operation
		if tt.operation == "conversations" {
			method, path = "GET", path+"?session_id="+session
		}
		status, answer := d.send(method, path, body)
		if status != tt.status || !strings.Contains(answer, tt.want) || strings.Contains(answer, "canary") {
			t.Errorf("%s %s: got %d %s\nwant %d and %q, without the key", tt.operation, body, status, answer, tt.status, tt.want)
		}
		if _, rest, ok := strings.Cut(answer, `"session_id":"`); ok && session == "" {
			session, _, _ = strings.Cut(rest, `"`)
		}
	}
	for _, r := range endpoint.Requests() {
		if r.Key != "Bearer "+key {
			t.Errorf("got the Authorization %q at the endpoint", r.Key)
		}
	}
}

// Without a server of commands that can work the program is alive and not ready, and says so without what is wrong.
func TestProbes(t *testing.T) {
	h := newHost(t, `{"toolboxes": {"gone": {"mcpServers": {"desk": {"builtin": "commands", "commands": "gone"}}}}}`, noTools{}, zerolog.Nop(), nil)
	d := &desktop{t: t, host: h, box: "gone"}
	if status, got := d.send("POST", "/initialize", `{}`); status != http.StatusServiceUnavailable {
		t.Errorf("got %d %s of a folder that is not there", status, got)
	}
	if status, got := d.send("GET", "/probes/healthz", ""); status != http.StatusOK || strings.TrimSpace(got) != `{"status":"alive"}` {
		t.Errorf("got %d %s, want it alive", status, got)
	}
	want := `{"checks":{"open":true,"store":true,"workflow":false},"status":"not_ready"}`
	if status, got := d.send("GET", "/probes/readyz", ""); status != http.StatusServiceUnavailable || strings.TrimSpace(got) != want {
		t.Errorf("got %d %s, want it not to be ready: %s", status, got, want)
	}
}

// slowTools are the tools of toolboxes that take their time.
type slowTools struct {
	noTools
	asked atomic.Int32
}

func (s *slowTools) Tools(ctx context.Context, _ string) ([]command.Tool, []string, error) {
	s.asked.Add(1)
	select {
	case <-time.After(10 * time.Second):
		return nil, nil, errors.New("it does not start")
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
}

// A server is made once for all who wait for it. Whoever leaves, the first of them too, has the others wait no longer
// and nothing begin anew.
func TestMadeForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tools := new(slowTools)
		h := newHost(t, `{"toolboxes": {"dev": {"mcpServers": {"x": {"command": "x"}}}, "desk": {"mcpServers": {"desk": {"builtin": "commands", "commands": "toolbox:dev"}}}}}`, tools, zerolog.Nop(), nil)
		began := time.Now()
		got := make(chan error)
		leaving, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		for _, ctx := range []context.Context{leaving, t.Context(), t.Context(), t.Context()} {
			go func() {
				_, err := h.Get(ctx, "toolbox:dev")
				got <- err
			}()
			synctest.Wait()
		}
		if err := <-got; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v for the one who left", err)
		}
		for range 3 {
			if err := <-got; err == nil || !strings.Contains(err.Error(), "does not start") {
				t.Errorf("got %v, want that it does not start", err)
			}
		}
		if took := time.Since(began); took != 10*time.Second || tools.asked.Load() != 1 {
			t.Errorf("asked %d times in %s, want once", tools.asked.Load(), took)
		}
	})
}
