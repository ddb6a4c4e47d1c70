package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// sentSpan is a span as a collector reads it.
type sentSpan struct {
	TraceID, SpanID, ParentSpanID, Name string
	Attributes                          []struct {
		Key   string
		Value struct{ StringValue string }
	}
}

func (s *sentSpan) attribute(key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.StringValue
		}
	}
	return ""
}

// collect is a collector of traces, and what it has got.
func collect(t *testing.T) (url string, spans func() []sentSpan) {
	t.Helper()
	var mu sync.Mutex
	var all []sentSpan
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var body struct {
			ResourceSpans []struct {
				ScopeSpans []struct{ Spans []sentSpan }
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Errorf("not OTLP in JSON: %v", err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, r := range body.ResourceSpans {
			for _, s := range r.ScopeSpans {
				all = append(all, s.Spans...)
			}
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, func() []sentSpan {
		mu.Lock()
		defer mu.Unlock()
		return all
	}
}

// traced is what came of calls through the built program.
type traced struct {
	replies []string
	log     string
}

// callTraced starts the program before a child of its own, opens the toolbox and makes calls with these params, one
// after the other.
func callTraced(t *testing.T, environ []string, calls ...string) traced {
	t.Helper()
	dir := t.TempDir()
	config := filepath.Join(dir, "c.json")
	text := `{"toolboxes": {"box": {"mcpServers": {"s": {"command": ` + wiretest.JSON(wiretest.Program("fakeserver")) + `, "args": ["tools=params,iserror,exit,env"]}}}}}`
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("workbench", "--config", config, "--log-level", "warn")
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "XDG_CACHE_HOME=" + dir, "GORACE=atexit_sleep_ms=0"}, environ...)
	var log strings.Builder
	cmd.Stderr = &log
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	ask := func(id int, msg string) string {
		if _, err := io.WriteString(in, msg+"\n"); err != nil {
			t.Error(err)
		}
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,`, id)) {
				return lines.Text()
			}
			if strings.Contains(lines.Text(), "notifications/tools/list_changed") { // the result of the open waits for this
				if _, err := io.WriteString(in, `{"jsonrpc":"2.0","id":"list","method":"tools/list"}`+"\n"); err != nil {
					t.Error(err)
				}
			}
		}
		t.Errorf("no reply to %s", msg)
		return ""
	}
	ask(1, greeting)
	ask(2, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"workbench_open_toolbox","arguments":{"toolbox_name":"box"}}}`)
	var got traced
	for i, params := range calls {
		got.replies = append(got.replies, ask(3+i, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`, 3+i, params)))
	}
	_ = in.Close()
	for lines.Scan() {
		continue
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the program ended with %v\n%s", err, &log)
	}
	got.log = log.String()
	return got
}

const (
	agentTrace = "0af7651916cd43dd8448eb211c80319c"
	agentSpan  = "b7ad6b7169203331"
	agentMeta  = `"_meta":{"traceparent":"00-` + agentTrace + "-" + agentSpan + `-01","tracestate":"v=1","baggage":"k=v"}`
)

// Each call is a span at the collector, below that of the client and above what the server does, also of a server that
// dies in the midst of it.
func TestTraces(t *testing.T) {
	url, spans := collect(t)
	got := callTraced(t, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + url},
		`{"name":"box__s__params","arguments":{},`+agentMeta+`}`,
		`{"name":"workbench_use_tool","arguments":{"toolbox_name":"box","tool_name":"iserror"}}`,
		`{"name":"box__s__env","arguments":{}}`,
		`{"name":"box__s__exit","arguments":{"n":3}}`,
	)
	all := spans()
	if len(all) != 4 || len(got.replies) != 4 {
		t.Fatalf("got %d spans and %d replies, want 4 of each; log:\n%s", len(all), len(got.replies), got.log)
	}
	for i, want := range []struct{ name, outcome string }{
		{"tools/call params", "ok"}, {"tools/call iserror", "tool_error"}, {"tools/call env", "ok"}, {"tools/call exit", "lost"},
	} {
		s := &all[i]
		if s.Name != want.name || s.attribute("workbench.outcome") != want.outcome || s.attribute("workbench.toolbox") != "box" || s.attribute("workbench.server") != "s" {
			t.Errorf("got the span %+v, want %v of box/s", *s, want)
		}
	}
	if first := &all[0]; first.TraceID != agentTrace || first.ParentSpanID != agentSpan {
		t.Errorf("got the span %+v, want it below the client's", *first)
	}
	want := fmt.Sprintf(`\"_meta\":{\"traceparent\":\"00-%s-%s-01\",\"tracestate\":\"v=1\",\"baggage\":\"k=v\"}`, agentTrace, all[0].SpanID)
	if !strings.Contains(got.replies[0], want) {
		t.Errorf("the server got %s, want %s in it", got.replies[0], want)
	}
	if strings.Contains(got.replies[2], "OTEL_") {
		t.Errorf("the server got the environment %s, want nothing of the collector in it", got.replies[2])
	}
}

// Without traces, what the client says of its own goes on as it is; that they cannot be had is a warning and no more.
func TestNoTraces(t *testing.T) {
	for name, test := range map[string]struct {
		environ []string
		log     string
	}{
		"not asked for": {nil, ""},
		"by grpc":       {[]string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4317", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"}, "OTEL_EXPORTER_OTLP_PROTOCOL is grpc"},
	} {
		t.Run(name, func(t *testing.T) {
			got := callTraced(t, test.environ, `{"name":"box__s__params","arguments":{},`+agentMeta+`}`)
			if want := strings.ReplaceAll(agentMeta, `"`, `\"`); !strings.Contains(got.replies[0], want) {
				t.Errorf("the server got %s, want %s in it", got.replies[0], want)
			}
			if !strings.Contains(got.log, test.log) || (test.log == "") != (got.log == "") {
				t.Errorf("got the log %q, want %q in it", got.log, test.log)
			}
		})
	}
}
